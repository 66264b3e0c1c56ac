/* Lamport's bakery for three processes, as in crates/algorithms/src/mutex/bakery.rs; its header has the lines.

   Numbers grow without bound, and SPIN needs one: a process that would take a number above CAP stops for ever where it
   is. So SPIN's answer is for the runs in which none does. Ours needs no cap and is for all runs: `doorway` tells
   numbers apart by their order alone. The states of the two are therefore not the same.

   One step is one access. Loops are unrolled and every process is a proctype of its own, so that a process is no more
   than where it is and the maximum it has seen, which it forgets when it has chosen: the least SPIN can be given to
   store. `inside` is set in the step that enters and cleared in the step that leaves, so it makes no states of its
   own. */

#define CAP 8

unsigned number0 : 4, number1 : 4, number2 : 4;
bit choosing0, choosing1, choosing2;
bit inside;

#define JUST(access)   access
#define ENTER(access)  d_step { access -> assert(!inside); inside = 1 }

/* 4 */
#define READ(i)        max = (number##i > max -> number##i : max)
#define CHOOSE(p)      d_step { max < CAP -> number##p = max + 1; max = 0 }

/* 7, 8. Nobody but p writes its number, so p's is at hand without an access. */
#define PASS(p, i, step) \
	!choosing##i; \
	step((number##i == 0 || number##i > number##p || (number##i == number##p && i > p)))

/* 10 */
#define EXIT(p)        d_step { number##p = 0; inside = 0 } goto start

/* The process p among the others a, b. */
#define PROCESS(p, a, b) \
	active proctype P##p() { \
		unsigned max : 4; \
		start: choosing##p = 1; \
		READ(0); READ(1); READ(2); CHOOSE(p); \
		choosing##p = 0; \
		PASS(p, a, JUST); PASS(p, b, ENTER); \
		EXIT(p) \
	}

PROCESS(0, 1, 2)
PROCESS(1, 0, 2)
PROCESS(2, 0, 1)
