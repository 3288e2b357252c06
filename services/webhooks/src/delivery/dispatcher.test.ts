import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ClaimedDelivery, Lane } from "./claim.ts";
import { Dispatcher, type Pace } from "./dispatcher.ts";
import type { Shares } from "./room.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

let number = 0;
const aDelivery = (business: string, endpoint: string, lane: Lane = "QUICK"): ClaimedDelivery => ({
  id: String(number++),
  lease_token: "token",
  traceparent: null,
  status: "PENDING",
  attempts: 0,
  is_first: true,
  event_id: "event",
  type: "PAYMENT_REFUNDED",
  body: "{}",
  business_id: business,
  endpoint_id: endpoint,
  lane,
  url: "http://127.0.0.1:9/",
  secret_ciphertext: "",
  other_secret_ciphertext: null,
});
const some = (count: number, business: string, endpoint: string) =>
  Array.from({ length: count }, () => aDelivery(business, endpoint));

/** A dispatcher whose attempts end when the test says so. */
function aDispatcher(shares: Shares) {
  const dispatcher = new Dispatcher(shares);
  const begun: { delivery: ClaimedDelivery; answer: (pace: Pace) => void; end: () => void }[] = [];
  const released: ClaimedDelivery[] = [];
  const opened = dispatcher.open(
    async (delivery, answer) => {
      const ended = Promise.withResolvers<void>();
      begun.push({ delivery, answer, end: ended.resolve });
      await ended.promise;
    },
    async (deliveries) => void released.push(...deliveries),
  );
  const answerAll = async (pace: Pace, to: (delivery: ClaimedDelivery) => boolean = () => true) => {
    const answered = begun.filter(({ delivery }) => to(delivery));
    begun.splice(0, begun.length, ...begun.filter(({ delivery }) => !to(delivery)));
    for (const { answer, end } of answered) {
      answer(pace);
      end();
    }
    await new Promise(setImmediate);
    return answered.length;
  };
  const underWay = (endpoint: string) => begun.filter(({ delivery }) => delivery.endpoint_id === endpoint).length;
  return { dispatcher, begun, released, answerAll, underWay, opened };
}

test("an endpoint begins with two attempts at once, has twice as many with each answer in time, and two after a late one", async () => {
  const { dispatcher, answerAll } = aDispatcher({ total: 100, perBusiness: 100, perEndpoint: 16 });
  dispatcher.take(some(200, "b", "e"));
  expect(await answerAll("IN_TIME")).toBe(2);
  // Each of the two doubled it.
  expect(await answerAll("IN_TIME")).toBe(8);
  expect(await answerAll("IN_TIME")).toBe(16);
  expect(await answerAll("LATE")).toBe(16);
  expect(await answerAll("LATE")).toBe(2);
});

test("businesses take turns, and so do the endpoints of one, whatever the others have waiting", async () => {
  const { dispatcher, begun, answerAll } = aDispatcher({ total: 4, perBusiness: 4, perEndpoint: 4 });
  // One that is known to answer, so that it may have more than two.
  dispatcher.take(some(4, "a", "a1"));
  await answerAll("IN_TIME");
  await answerAll("IN_TIME");
  dispatcher.take([...some(50, "a", "a1"), ...some(50, "a", "a2"), ...some(3, "b", "b1"), ...some(3, "c", "c1")]);
  const order: string[] = [];
  while (begun.length > 0) {
    order.push(...begun.map(({ delivery }) => delivery.endpoint_id));
    await answerAll("IN_TIME");
  }
  // Whoever came while all places were taken is served within the next two rounds of four.
  expect(order.slice(4, 12).filter((id) => id === "b1" || id === "c1").length).toBeGreaterThanOrEqual(4);
  expect(order).toHaveLength(106);
});

test("a business holds no more than its share, half of it for endpoints that have not answered, and others go on", async () => {
  const { dispatcher, begun, answerAll } = aDispatcher({ total: 16, perBusiness: 4, perEndpoint: 2 });
  const endpoints = ["e1", "e2", "e3", "e4"].flatMap((endpoint) => some(5, "a", endpoint));
  const businesses = () => begun.map(({ delivery }) => delivery.business_id);
  dispatcher.take([...endpoints, ...some(1, "b", "e5")]);
  expect(businesses()).toEqual(["a", "b", "a"]);
  for (let i = 0; i < 3; i++) await answerAll("IN_TIME");
  dispatcher.take(some(1, "b", "e5"));
  expect(businesses()).toEqual(["a", "a", "a", "a", "b"]);
});

test("endpoints that have not answered yet hold half of the places at most, until they stall and lose them", async () => {
  const { dispatcher, begun, underWay, answerAll } = aDispatcher({ total: 8, perBusiness: 8, perEndpoint: 4 });
  dispatcher.take(some(1, "good", "good"));
  await answerAll("IN_TIME");
  for (let i = 0; i < 20; i++) dispatcher.take(some(2, `b${i}`, `hangs${i}`));
  expect(begun).toHaveLength(4);
  dispatcher.take(some(4, "good", "good"));
  expect(underWay("good")).toBe(4);

  vi.advanceTimersByTime(150);
  // The four that hang have given up their places to four others.
  expect(begun).toHaveLength(12);
  for (let i = 0; i < 20; i++) vi.advanceTimersByTime(1_500);
  // Stalled ones are bounded too: twice the places, and what began beside them.
  expect(begun.length - underWay("good")).toBeLessThanOrEqual(2 * 8 + 4);
  await answerAll("IN_TIME", ({ endpoint_id }) => endpoint_id === "good");
  dispatcher.take(some(2, "good", "good"));
  expect(underWay("good")).toBe(2);
});

test("when all of a business's places hang, others have them within two tenths of a second", async () => {
  const { dispatcher, underWay, answerAll } = aDispatcher({ total: 64, perBusiness: 16, perEndpoint: 16 });
  for (const endpoint of ["good", "hangs"]) {
    dispatcher.take(some(14, "b", endpoint));
    for (let i = 0; i < 3; i++) await answerAll("IN_TIME");
  }
  dispatcher.take(some(40, "b", "hangs"));
  expect(underWay("hangs")).toBe(16);
  dispatcher.take(some(2, "b", "good"));
  expect(underWay("good")).toBe(0);
  vi.advanceTimersByTime(200);
  expect(underWay("good")).toBe(2);
  dispatcher.take(some(20, "b", "good"));
  expect(underWay("good") + underWay("hangs") - 16).toBe(16);
  // Of the places, what hangs may have half again.
  expect(underWay("good")).toBeGreaterThanOrEqual(8);
});

test("an attempt that takes long keeps its place while there are others", async () => {
  const { dispatcher, underWay, answerAll } = aDispatcher({ total: 64, perBusiness: 16, perEndpoint: 8 });
  dispatcher.take(some(50, "b", "e"));
  for (let i = 0; i < 3; i++) await answerAll("IN_TIME");
  expect(underWay("e")).toBe(8);
  vi.advanceTimersByTime(900);
  await answerAll("IN_TIME");
  expect(underWay("e")).toBe(8);
});

test("an endpoint that is always slower than a tenth of a second has its share when all places are taken", async () => {
  const { dispatcher, begun, answerAll } = aDispatcher({ total: 16, perBusiness: 8, perEndpoint: 16 });
  const isSlow = ({ endpoint_id }: ClaimedDelivery) => endpoint_id === "slow";
  let answered = 0;
  for (let tenth = 0; tenth < 100; tenth++) {
    // Everybody has always something to send; the slow one's share of the places is five.
    for (const endpoint of ["slow", "a", "b", "c"]) {
      const { free = 4 } = dispatcher.room([endpoint]).endpoints[0] ?? {};
      dispatcher.take(some(Math.min(free, dispatcher.room().free.total), endpoint, endpoint));
    }
    vi.advanceTimersByTime(100);
    await answerAll("IN_TIME", (delivery) => !isSlow(delivery));
    if (tenth % 4 === 3 && begun.length > 0) answered += await answerAll("IN_TIME", isSlow);
  }
  // Without a place of its own it would have two in each four tenths.
  expect(answered / 25).toBeGreaterThan(3);
});

test("what waits for more than three seconds, or for an endpoint that changed, is given back", async () => {
  const { dispatcher, released, answerAll, opened } = aDispatcher({ total: 4, perBusiness: 4, perEndpoint: 2 });
  const [first, second, third, fourth] = some(4, "b", "e") as [
    ClaimedDelivery,
    ClaimedDelivery,
    ClaimedDelivery,
    ClaimedDelivery,
  ];
  dispatcher.take([first, second, third]);
  vi.advanceTimersByTime(900);
  dispatcher.take([fourth]);
  vi.advanceTimersByTime(2_150);
  await answerAll("IN_TIME");
  expect(released).toEqual([third]);
  dispatcher.take(some(3, "b", "e"));
  const waiting = some(1, "b", "e");
  dispatcher.take(waiting);
  released.length = 0;
  await dispatcher.forget("b", "e");
  expect(released).toContain(waiting[0]);
  await answerAll("IN_TIME");
  const last = some(3, "b2", "e2");
  dispatcher.take(last);
  await opened[Symbol.asyncDispose]();
  expect(released).toContain(last[2]);
  expect(dispatcher.room().free.total).toBe(0);
});

test("room counts what is held until it is written down, and says it by endpoint and business", async () => {
  const { dispatcher, begun } = aDispatcher({ total: 8, perBusiness: 4, perEndpoint: 4 });
  expect(dispatcher.room()).toMatchObject({ free: { total: 32, fresh: 16, slow: 1 }, perEndpoint: { fresh: 4, slow: 1 } });
  dispatcher.take([...some(2, "b", "e"), aDelivery("b", "e", "NEW"), aDelivery("b", "slow", "SLOW")]);
  expect(dispatcher.room()).toMatchObject({
    free: { total: 28, fresh: 15, slow: 0 },
    endpoints: [
      { id: "e", free: 1, free_slow: 1, is_new: true },
      { id: "slow", free: 4, free_slow: 0, is_new: true },
    ],
    businesses: [{ id: "b", held: 3, held_slow: 1 }],
  });
  // However often it is named: the statement that leases would otherwise multiply its rows.
  expect(dispatcher.room(["b", "b", "unknown"])).toEqual(dispatcher.room());
  begun[0]?.answer("IN_TIME");
  expect(dispatcher.room().free.total).toBe(28);
  begun[0]?.end();
  await new Promise(setImmediate);
  expect(dispatcher.room().free.total).toBe(29);
});

test("new events have places while there is room, for as many endpoints as the business is known to have", async () => {
  const { dispatcher, answerAll } = aDispatcher({ total: 16, perBusiness: 8, perEndpoint: 4 });
  // Of whom nothing is known may have twenty, and all such together have half of the sixty-four.
  expect(dispatcher.placesFor(["a", "b", "a"]).places).toEqual([1, undefined, undefined]);
  dispatcher.take([...some(1, "a", "e1"), ...some(1, "a", "e2"), ...some(1, "a", "e3")]);
  await answerAll("IN_TIME");
  // Thirty-two for a business, three for each event.
  expect(dispatcher.placesFor(Array(12).fill("a")).places).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, undefined, undefined]);
  dispatcher.take(Array.from({ length: 32 }, (_, i) => aDelivery(`new${i}`, `e${i}`, "NEW")));
  expect(dispatcher.placesFor(["c", "a"]).places).toEqual([undefined, 1]);
  expect(dispatcher.room(["c", "new1"])).toMatchObject({
    perEndpoint: { fresh: 0 },
    endpoints: [{ id: "e1", free: 0, free_slow: 1, is_new: true }],
  });
});

test("what waits for an endpoint that hangs is given back after three seconds, before it answers", async () => {
  const { dispatcher, released } = aDispatcher({ total: 8, perBusiness: 8, perEndpoint: 4 });
  dispatcher.take(some(4, "b", "hangs"));
  vi.advanceTimersByTime(2_900);
  expect(released).toEqual([]);
  vi.advanceTimersByTime(500);
  expect(released).toHaveLength(2);
  expect(dispatcher.room().free.total).toBe(30);
});

test("endpoints that another process deleted do not add up among a business's", async () => {
  const { dispatcher, answerAll } = aDispatcher({ total: 16, perBusiness: 16, perEndpoint: 4 });
  for (let i = 0; i < 100; i++) {
    dispatcher.take([...some(1, "b", `deleted ${i}`), ...some(1, "b", "e")]);
    await answerAll("IN_TIME");
  }
  expect(dispatcher.room(["b"]).endpoints).toHaveLength(20);
  expect(dispatcher.room(["b"]).endpoints).toContainEqual({ id: "e", free: 8, free_slow: 1, is_new: false });
});

/** Whether claims are woken by it. */
async function wakes(dispatcher: Dispatcher, work: () => unknown): Promise<boolean> {
  dispatcher.pause.begin();
  await work();
  await new Promise(setImmediate);
  return await dispatcher.pause.wait(0);
}

test("what was born without a lease wakes claims while its endpoint has room: nothing that ends would", async () => {
  const { dispatcher, answerAll } = aDispatcher({ total: 8, perBusiness: 8, perEndpoint: 4 });
  const unleased = (lane: "NEW" | "QUICK" | "SLOW") => [{ ...aDelivery("b", "e", lane), lease_token: null }];
  for (const lane of ["NEW", "QUICK", "SLOW"] as const) {
    expect(await wakes(dispatcher, () => dispatcher.takeNew(unleased(lane)))).toBe(true);
  }
  dispatcher.take(some(4, "b", "e"));
  expect(await wakes(dispatcher, () => dispatcher.takeNew(unleased("NEW")))).toBe(false);
  // The end of the attempts before it does.
  expect(await wakes(dispatcher, () => answerAll("IN_TIME"))).toBe(true);
});

test("what waited too long wakes claims once it is given back", async () => {
  const { dispatcher, begun, released } = aDispatcher({ total: 8, perBusiness: 8, perEndpoint: 2 });
  dispatcher.take(some(3, "b", "e"));
  const [first] = begun;
  vi.spyOn(performance, "now").mockReturnValue(performance.now() + 3_100);
  expect(await wakes(dispatcher, () => first?.answer("IN_TIME"))).toBe(true);
  expect(released).toHaveLength(1);
});

test("deliveries that are taken while the process stops are given back", async () => {
  const { dispatcher, released, opened } = aDispatcher({ total: 2, perBusiness: 2, perEndpoint: 2 });
  await opened[Symbol.asyncDispose]();
  dispatcher.take(some(2, "b", "e"));
  expect(released).toHaveLength(2);
  expect(dispatcher.isIdle).toBe(true);
});

test("endpoints that are gone, or never answered, are not counted among a business's", async () => {
  const { dispatcher, answerAll } = aDispatcher({ total: 16, perBusiness: 16, perEndpoint: 4 });
  for (let i = 0; i < 100; i++) {
    dispatcher.take(some(1, "b", `deleted ${i}`));
    await answerAll(i % 2 === 0 ? "IN_TIME" : "LATE");
    await dispatcher.forget("b", `deleted ${i}`);
  }
  dispatcher.take(some(1, "b", "e"));
  await answerAll("IN_TIME");
  expect(dispatcher.room(["b"]).endpoints).toMatchObject([{ id: "e" }]);
  expect(dispatcher.placesFor(["b"]).places).toEqual([1]);
});

test("nothing that is held or counted is lost or left over, whatever happens in whatever order", async () => {
  const shares = { total: 8, perBusiness: 4, perEndpoint: 4 };
  const index = (max: number) => fc.nat({ max });
  const lane = fc.constantFrom<Lane>("QUICK", "NEW", "SLOW");
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(fc.constant("take" as const), index(2), index(3), index(4), lane) },
    { weight: 3, arbitrary: fc.tuple(fc.constant("answer" as const), index(30), fc.constantFrom<Pace>("IN_TIME", "LATE")) },
    { weight: 3, arbitrary: fc.tuple(fc.constant("end" as const), index(30)) },
    { weight: 3, arbitrary: fc.tuple(fc.constant("pass" as const), fc.constantFrom(1, 60, 110, 300, 1_100, 3_200)) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("forget" as const), index(2), index(3)) },
  );
  const everything = fc.asyncProperty(fc.array(step, { maxLength: 150 }), async (steps) => {
    const { dispatcher, begun, released, answerAll, opened } = aDispatcher(shares);
    const taken: ClaimedDelivery[] = [];
    const seen = new Set<ClaimedDelivery>();
    let ended = 0;
    const endOf = (i: number) => {
      const [one] = begun.splice(i % begun.length, 1);
      if (one) ended++;
      one?.end();
    };
    for (const given of steps) {
      if (given[0] === "take") {
        const [, business, endpoint, count, lane] = given;
        const deliveries = Array.from({ length: count }, () => aDelivery(`b${business}`, `b${business} e${endpoint}`, lane));
        taken.push(...deliveries);
        dispatcher.take(deliveries);
      } else if (given[0] === "answer" && begun.length > 0) begun[given[1] % begun.length]?.answer(given[2]);
      else if (given[0] === "end" && begun.length > 0) endOf(given[1]);
      else if (given[0] === "pass") vi.advanceTimersByTime(given[1]);
      else if (given[0] === "forget") await dispatcher.forget(`b${given[1]}`, `b${given[1]} e${given[2]}`);
      await new Promise(setImmediate);
      for (const { delivery } of begun) seen.add(delivery);
      expect(4 * shares.total - dispatcher.room().free.total).toBe(taken.length - released.length - ended);
    }
    while (!dispatcher.isIdle) {
      vi.advanceTimersByTime(3_300);
      for (const { delivery } of begun) seen.add(delivery);
      await answerAll("IN_TIME");
    }
    // Each was begun or given back, none both or twice.
    expect(new Set([...released, ...seen]).size).toBe(taken.length);
    expect(released.length + seen.size).toBe(taken.length);
    expect(dispatcher.room().free).toEqual({ total: 32, fresh: 16, slow: 1 });

    // All places are there again: half of them for whoever has not answered yet.
    dispatcher.take(["x", "y", "z"].flatMap((business) => some(4, business, business)));
    expect(begun).toHaveLength(4);
    await answerAll("IN_TIME");
    while (!dispatcher.isIdle) await answerAll("IN_TIME");
    dispatcher.take(["x", "y", "z"].flatMap((business) => some(4, business, business)));
    expect(begun).toHaveLength(8);
    while (!dispatcher.isIdle) await answerAll("IN_TIME");
    for (const business of ["b0", "b1", "b2"]) {
      for (let i = 0; i < 4; i++) await dispatcher.forget(business, `${business} e${i}`);
      dispatcher.take([0, 1, 2].flatMap((i) => some(2, business, `${business} e${i}`)));
      expect(begun).toHaveLength(2);
      await answerAll("IN_TIME");
      while (!dispatcher.isIdle) await answerAll("IN_TIME");
    }
    await opened[Symbol.asyncDispose]();
  });
  await fc.assert(everything, { numRuns: 150 });
});
