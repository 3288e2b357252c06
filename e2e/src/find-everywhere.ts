import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { System } from "@amana/dev-env/system";
import { Client } from "pg";
import { readKafka } from "./read-kafka.ts";

/** A place to search, such as a table or a log file, with its complete content. */
export interface Place {
  readonly name: string;
  readonly content: string;
}

/** Runs `use` with a connection, and closes the connection afterwards. */
export async function withClient<T>(connectionString: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/**
 * Returns a place for each table in each database, with all rows. A bytea value is included as
 * hexadecimal digits and as text.
 */
export async function readDatabasePlaces(system: System): Promise<Place[]> {
  const places: Place[] = [];
  for (const [service, url] of Object.entries(system.databaseUrls)) {
    await withClient(url, async (client) => {
      const tables = await client.query<{ name: string }>(
        `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
         where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE' order by name`,
      );
      for (const { name } of tables.rows) {
        const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} as t`);
        places.push({ name: `${service}: ${name}`, content: rows.map(({ row }) => `${row}\n${decodeBytes(row)}`).join("\n") });
      }
    });
  }
  return places;
}

const decodeBytes = (row: string): string =>
  [...row.matchAll(/\\x((?:[0-9a-f]{2})+)/g)].map(([, digits = ""]) => Buffer.from(digits, "hex").toString("utf8")).join("\n");

export async function readLogPlaces(system: System): Promise<Place[]> {
  const names = (await readdir(system.logDir)).filter((name) => name.endsWith(".log"));
  return await Promise.all(
    names.map(async (name) => ({ name: `log: ${name}`, content: await readFile(join(system.logDir, name), "utf8") })),
  );
}

export async function readKafkaPlaces(brokers: string): Promise<Place[]> {
  const byTopic = Map.groupBy(await readKafka(brokers), ({ topic }) => topic);
  return [...byTopic].map(([topic, messages]) => ({
    name: `kafka: ${topic}`,
    content: messages
      .map(({ key, value, headers }) => `${key}\n${JSON.stringify(headers)}\n${value.toString("utf8")}`)
      .join("\n"),
  }));
}

/**
 * Returns the names of the places that contain `word` as text in upper or lower case, as
 * hexadecimal digits, percent-encoded, or in base64.
 */
export function findPlaces(places: readonly Place[], word: string): string[] {
  const caseInsensitiveForms = [word, Buffer.from(word).toString("hex"), encodeURIComponent(word)].map((form) =>
    form.toLowerCase(),
  );
  const base64Forms = encodeBase64Parts(word);
  const matching = places.filter(({ content }) => {
    const lower = content.toLowerCase();
    return caseInsensitiveForms.some((form) => lower.includes(form)) || base64Forms.some((form) => content.includes(form));
  });
  return [...new Set(matching.map(({ name }) => name))];
}

/**
 * Returns the part of a word's base64 that does not depend on the bytes before and after the word.
 * A word can begin at three positions within a base64 group, so there are three results.
 */
const encodeBase64Parts = (word: string): string[] =>
  [0, 1, 2].map((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(word)]);
    const digits = bytes.toString("base64").replaceAll("=", "");
    return digits.slice(offset === 0 ? 0 : offset + 1, Math.floor((bytes.length * 8) / 6));
  });

/**
 * Returns the files that contain one of the words as text, as hexadecimal digits or in base64. Also
 * finds deleted rows, because PostgreSQL's files still contain them. Skips the sandbox's files,
 * because the sandbox simulates other companies.
 */
export async function findFiles(folder: string, words: readonly string[]): Promise<string[]> {
  const forms = words.flatMap((word) => [word, Buffer.from(word).toString("hex"), ...encodeBase64Parts(word)]);
  const patterns = [...new Set(forms)].flatMap((form) => ["-e", form]);
  const options = ["-rlaF", ...patterns, folder, "--exclude-dir=sandbox", "--exclude=sandbox*"];
  const found = await promisify(execFile)("grep", options).catch((error: { code: number; stdout: string; stderr: string }) => {
    // grep exits with code 1 if it finds nothing. It exits with code 2 if PostgreSQL removed a file
    // during the search.
    if (error.code === 1 || (error.code === 2 && isAboutRemovedFiles(error.stderr))) return error;
    throw error;
  });
  return found.stdout.split("\n").filter((line) => line !== "");
}

const isAboutRemovedFiles = (messages: string): boolean =>
  messages.split("\n").every((line) => line === "" || line.includes("No such file or directory"));
