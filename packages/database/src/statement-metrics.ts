import { counter } from "@amana/runtime";

const operation = "the RPCs, the consumed topics and the background tasks";

const statements = counter({
  name: "amana_database_statements_total",
  help: "SQL statements that this process sent, including those that begin and commit transactions",
  labels: { operation },
});

const roundTrips = counter({
  name: "amana_database_round_trips_total",
  help: "Round trips of this process to the database. In one round trip it sends one or more statements and waits for the response",
  labels: { operation },
});

/** Counts the statements that are sent to PostgreSQL in one message. */
export function countStatements(operation: string, count: number): void {
  statements.inc({ operation }, count);
  roundTrips.inc({ operation });
}
