/* The one-bit algorithm for six processes, as in crates/algorithms/src/mutex/one_bit.rs, which lists the lines.

   One step is one access. To give SPIN as little as possible to store, loops are unrolled, every process is a proctype
   of its own, whose state is its location, and a flag is a bit. `inside` is set in the step that enters the critical
   section and cleared in the step that leaves it, so it adds no states. */

bit flag0, flag1, flag2, flag3, flag4, flag5;
bit inside;

#define JUST(access)   access
#define ENTER(access)  d_step { access -> assert(!inside); inside = 1 }

/* 9, from the remainder or after lowering the flag for another process. These are two locations, as in one_bit.rs,
   where only the first is in the doorway. For exclusion alone one location would suffice, with 581,380 states instead
   of 971,615. */
#define RAISE(i)       start: flag##i = 1; goto scan; again: flag##i = 1; scan:

/* 11 to 14: if the lower process j has raised its flag, lowers flag i and waits until j lowers its own. `step` is JUST,
   or ENTER if this is the last condition. */
#define LOWER(i, j, step) \
	if \
	:: step(!flag##j) \
	:: flag##j -> flag##i = 0; !flag##j -> goto again \
	fi

/* 19 */
#define HIGHER(j)      !flag##j

/* 23 */
#define EXIT(i)        d_step { flag##i = 0; inside = 0 } goto start

active proctype P0() {
	start: flag0 = 1;
	HIGHER(1); HIGHER(2); HIGHER(3); HIGHER(4); ENTER(HIGHER(5));
	EXIT(0)
}

active proctype P1() {
	RAISE(1) LOWER(1, 0, JUST);
	HIGHER(2); HIGHER(3); HIGHER(4); ENTER(HIGHER(5));
	EXIT(1)
}

active proctype P2() {
	RAISE(2) LOWER(2, 0, JUST); LOWER(2, 1, JUST);
	HIGHER(3); HIGHER(4); ENTER(HIGHER(5));
	EXIT(2)
}

active proctype P3() {
	RAISE(3) LOWER(3, 0, JUST); LOWER(3, 1, JUST); LOWER(3, 2, JUST);
	HIGHER(4); ENTER(HIGHER(5));
	EXIT(3)
}

active proctype P4() {
	RAISE(4) LOWER(4, 0, JUST); LOWER(4, 1, JUST); LOWER(4, 2, JUST); LOWER(4, 3, JUST);
	ENTER(HIGHER(5));
	EXIT(4)
}

active proctype P5() {
	RAISE(5) LOWER(5, 0, JUST); LOWER(5, 1, JUST); LOWER(5, 2, JUST); LOWER(5, 3, JUST); LOWER(5, 4, ENTER);
	EXIT(5)
}
