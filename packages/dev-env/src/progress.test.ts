import { expect, test } from "vitest";
import { createProgress } from "./progress.ts";

function createStream(isTTY: boolean) {
  const written: string[] = [];
  return { isTTY, columns: 40, write: (text: string) => written.push(text), written };
}

test("createProgress writes one plain line for each change of a step, and the duration of an ended step, if the output is not a terminal", () => {
  const stream = createStream(false);
  let ms = 0;
  const progress = createProgress(stream, () => ms);

  const postgres = progress.step("PostgreSQL");
  postgres.update("initialising");
  postgres.update("initialising");
  const kafka = progress.step("Kafka");
  ms = 1_500;
  postgres.done("18.4 on port 1234");
  kafka.fail("no Java");
  kafka.update("too late");

  expect(stream.written).toEqual([
    "… PostgreSQL: initialising\n",
    "✓ PostgreSQL: 18.4 on port 1234 (1.5 s)\n",
    "✗ Kafka: no Java (1.5 s)\n",
  ]);
});

test("createProgress prints running steps as stopped when the user stops the program, and prints no later failure of these steps", () => {
  const stream = createStream(false);
  const progress = createProgress(stream, () => 0);
  const migrations = progress.step("Migrations");
  progress.stopSteps();
  migrations.fail("ended with code null");
  expect(stream.written).toEqual(["– Migrations: stopped (0.0 s)\n"]);
});

test("createProgress redraws running steps below the finished steps, cut to the terminal's width, if the output is a terminal", () => {
  const stream = createStream(true);
  const progress = createProgress(stream, () => 0);

  const postgres = progress.step("PostgreSQL");
  progress.step("Kafka").update("fetching something with a very long name");
  stream.written.length = 0;
  postgres.done("ready");

  expect(stream.written).toEqual(["\x1b[2A\r\x1b[0J✓ PostgreSQL: ready (0.0 s)\n… Kafka: fetching something with a very\n"]);
});
