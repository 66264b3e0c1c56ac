/* The Filter lock for four processes, as in crates/algorithms/src/mutex/filter.rs; its header has the lines.

   One step is one access. Loops are unrolled and every process is a proctype of its own, so that a process is no more
   than where it is and a register no more than its bits: the least SPIN can be given to store. `inside` is set in the
   step that enters and cleared in the step that leaves, so it makes no states of its own. */

unsigned level0 : 2, level1 : 2, level2 : 2, level3 : 2;
unsigned victim1 : 2, victim2 : 2, victim3 : 2;
bit inside;

#define JUST(access)   access
#define ENTER(access)  d_step { access -> assert(!inside); inside = 1 }

/* 14, 15 */
#define ANNOUNCE(i, me) level##me = i; victim##i = me

/* 17, one k: on a conflict from the first k again. `step` is what being let through is: JUST, or ENTER at the last. */
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

/* 13: the process `me` among the others a, b, c. */
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
