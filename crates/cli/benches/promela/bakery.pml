/* Lamport's bakery for three processes, as in crates/algorithms/src/mutex/bakery.rs, which lists the lines.

   Numbers grow without bound, and SPIN needs a bound: a process that would take a number above CAP blocks for ever. So
   SPIN's answer is about the executions in which no process does. `doorway` needs no cap, since it tells numbers apart
   only by their order, and its answer is about all executions. The two state spaces therefore differ.

   One step is one access. To give SPIN as little as possible to store, loops are unrolled and every process is a
   proctype of its own: the state of a process is its location and the maximum it has read, which it resets after
   choosing. `inside` is set in the step that enters the critical section and cleared in the step that leaves it, so it
   adds no states. */

#define CAP 8

unsigned number0 : 4, number1 : 4, number2 : 4;
bit choosing0, choosing1, choosing2;
bit inside;

#define JUST(access)   access
#define ENTER(access)  d_step { access -> assert(!inside); inside = 1 }

/* 4 */
#define READ(i)        max = (number##i > max -> number##i : max)
#define CHOOSE(p)      d_step { max < CAP -> number##p = max + 1; max = 0 }

/* 7, 8. Only p writes number[p], so p knows it without an access. */
#define PASS(p, i, step) \
	!choosing##i; \
	step((number##i == 0 || number##i > number##p || (number##i == number##p && i > p)))

/* 10 */
#define EXIT(p)        d_step { number##p = 0; inside = 0 } goto start

/* Process p; the others are a and b. */
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
