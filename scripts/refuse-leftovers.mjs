/**
 * Preloaded in test processes: fails a test file that leaves its process changed. The test files of a process share
 * modules and globals, so a leftover could change the result of the next file.
 *
 * A test leaves the working directory, the environment, the listeners of the process and the globals of JavaScript and
 * Bun as they were. The processes that it starts end; only Linux can list them.
 */
import { afterAll } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';

const MOST_WAITS = 500;
const WAIT_MS = 10;

const globals = Object.getOwnPropertyNames(globalThis);
let before = describeProcess();

// Runs after the hooks of each test file. Something that was just told to end gets five seconds for it.
afterAll(async () => {
  for (let waits = 0; ; waits += 1) {
    const after = describeProcess();
    const left = listChanges(before, after);
    if (left.length > 0 && waits < MOST_WAITS) {
      await Bun.sleep(WAIT_MS);
      continue;
    }
    // Only the file that left something fails, not the files after it.
    before = after;
    if (left.length === 0) return;
    throw new Error(`The tests of this file leave something behind: ${left.join(', ')}.`);
  }
});

/** Returns a value for each thing that a test must leave as it was, under its name. */
function describeProcess() {
  return {
    things: new Map([
      ['another working directory', process.cwd()],
      ...Object.entries(process.env).map(([name, value]) => [`the variable ${name}`, value]),
      ...listListened().map((event) => [`listeners for ${String(event)}`, process.listenerCount(event)]),
      ...globals.map((name) => [`another ${name}`, Object.getOwnPropertyDescriptor(globalThis, name)?.value]),
    ]),
    children: listChildren(),
  };
}

function listChanges(old, now) {
  const names = new Set([...old.things.keys(), ...now.things.keys()]);
  const changed = [...names].filter((name) => !Object.is(old.things.get(name), now.things.get(name)));
  return [...changed, ...now.children.filter((child) => !old.children.includes(child))];
}

/** Returns the events that something listens for. The end of the process disturbs no other test. */
function listListened() {
  return process.eventNames().filter((event) => event !== 'exit');
}

/** Returns a text for each running process that this process started. */
function listChildren() {
  const threads = readIfThere(() => readdirSync('/proc/self/task')) ?? [];
  return threads.flatMap((thread) => {
    const ids = readIfThere(() => readFileSync(`/proc/self/task/${thread}/children`, 'utf8'))?.match(/\d+/g) ?? [];
    return ids.flatMap((id) => {
      // Empty for a process that has ended.
      const command = readIfThere(() => readFileSync(`/proc/${id}/cmdline`, 'utf8')) ?? '';
      return command === '' ? [] : [`the process ${id} (${command.replaceAll('\0', ' ').trim().slice(0, 200)})`];
    });
  });
}

function readIfThere(read) {
  try {
    return read();
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return undefined;
    throw error;
  }
}
