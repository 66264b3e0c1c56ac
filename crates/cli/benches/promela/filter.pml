/* The Filter lock for four processes, as in crates/algorithms/src/mutex/filter.rs, which lists the lines.

   One step is one access. To give SPIN as little as possible to store, loops are unrolled, every process is a proctype
   of its own, whose state is its location, and a register has only the bits it needs. `inside` is set in the step that
   enters the critical section and cleared in the step that leaves it, so it adds no states. */

unsigned level0 : 2, level1 : 2, level2 : 2, level3 : 2;
unsigned victim1 : 2, victim2 : 2, victim3 : 2;
bit inside;

#define JUST(access)   access
#define ENTER(access)  d_step { access -> assert(!inside); inside = 1 }

/* 14, 15 */
#define ANNOUNCE(i, me) level##me = i; victim##i = me

/* 17, for one k. On a conflict, restarts with the first k. `step` is JUST, or ENTER if this is the last condition. */
#define PASS(i, me, k, step) \
	if \
	:: step(level##k < i) \
	:: level##k >= i -> \
		if \
		:: step(victim##i != me) \
		:: victim##i == me -> goto wait##i \
		fi \
	fi

/* 22 */
#define EXIT(me)       d_step { level##me = 0; inside = 0 } goto start

/* 13: process `me`; the others are a, b and c. */
#define PROCESS(me, a, b, c) \
	active proctype P##me() { \
		start: ANNOUNCE(1, me); \
		wait1: PASS(1, me, a, JUST); PASS(1, me, b, JUST); PASS(1, me, c, JUST); \
		ANNOUNCE(2, me); \
		wait2: PASS(2, me, a, JUST); PASS(2, me, b, JUST); PASS(2, me, c, JUST); \
		ANNOUNCE(3, me); \
		wait3: PASS(3, me, a, JUST); PASS(3, me, b, JUST); PASS(3, me, c, ENTER); \
		EXIT(me) \
	}

PROCESS(0, 1, 2, 3)
PROCESS(1, 0, 2, 3)
PROCESS(2, 0, 1, 3)
PROCESS(3, 0, 1, 2)
