// The two machines of ../machines, written for XState v5 and driven by `actor.send`. Prints one line of JSON: steps a second, the best
// of several rounds.
import { assign, createActor, createMachine } from "xstate";

const count = assign({ n: ({ context }) => context.n + 1 });

const ring = createMachine({
  context: { n: 0 },
  initial: "s0",
  states: Object.fromEntries(
    Array.from({ length: 10 }, (_, i) => [
      `s${i}`,
      {
        on: {
          tick: [
            { target: `s${(i + 2) % 10}`, guard: ({ context }) => context.n % 10 === 7, actions: count },
            { target: `s${(i + 1) % 10}`, guard: ({ context }) => context.n % 10 !== 7, actions: count },
          ],
        },
      },
    ]),
  ),
});

const nested = createMachine({
  context: { n: 0 },
  initial: "work",
  states: {
    work: {
      initial: "both",
      on: { leave: "idle" },
      states: {
        both: {
          type: "parallel",
          states: {
            left: {
              initial: "l1",
              states: {
                l1: { on: { flip: { target: "l2", guard: ({ context }) => context.n < 1e12, actions: count } } },
                l2: { on: { flip: "l1" } },
              },
            },
            right: {
              initial: "r1",
              states: {
                r1: { on: { flip: "r2" } },
                r2: { on: { flip: { target: "r1", guard: ({ context }) => context.n > 0 } } },
              },
            },
          },
        },
        again: { type: "history", history: "deep", target: "both" },
      },
    },
    idle: { on: { back: "work.again" } },
  },
});

function measure(machine, events, steps, rounds) {
  let best = 0;
  for (let round = 0; round < rounds; round++) {
    const actor = createActor(machine).start();
    const started = process.hrtime.bigint();
    for (let step = 0; step < steps; step++) actor.send(events[step % events.length]);
    const seconds = Number(process.hrtime.bigint() - started) / 1e9;
    best = Math.max(best, steps / seconds);
    actor.stop();
  }
  return best;
}

const event = (type) => ({ type });
console.log(
  JSON.stringify({
    ring: measure(ring, [event("tick")], 60_000, 7),
    nested: measure(nested, ["flip", "leave", "back"].map(event), 30_000, 7),
  }),
);
