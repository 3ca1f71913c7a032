#!/usr/bin/env node
/**
 * The `gdn` command as npm installs it. It runs on plain Node, because everybody who can run `npm ci` has Node. It
 * finds Bun, which then runs the built program or `src/main.ts`. It keeps three rules:
 * 1. Arguments, standard streams, signals and the exit status pass through unchanged.
 * 2. Nothing in the current folder decides what runs: no `bunfig.toml`, no `.env`, no package fetched on first import,
 *    and no `tsconfig.json` or `package.json` that would make Bun find another program. So Bun starts in another
 *    folder, and the program gets the current folder as its first argument.
 * 3. When this launcher dies, every process that it started dies, too.
 *
 * Every command waits for this file, so it loads little, and is CommonJS, which Node loads faster than modules.
 */
'use strict';

const { spawn } = require('node:child_process');
const { existsSync } = require('node:fs');
const { findBun } = require('@goondan/runtime/find-bun');
const { launchCommand } = require('./launch-command.cjs');

/** The exit code for a wrong setup, as in the rest of `gdn`. */
const wrongSetup = 3;

// A terminal sends these signals to all foreground processes, including the child. If the launcher passed them on, the
// child would get each signal twice, and a second signal means "quit".
const sentByTerminal = ['SIGINT', 'SIGQUIT'];
const sentByOthers = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'];

// These suggestions are copied from `errorCatalogue`, because Node 20 cannot import that TypeScript file. A test checks
// that the copies are equal to the originals.
const suggestions = {
  E_BUN_MISSING:
    'Run `npm ci` (or install the packages again) without `--omit=optional` or `--no-optional`: Bun comes as an optional package.',
  E_PLATFORM: 'Use Linux or macOS. docs/platforms.md says what is tested on each.',
};

run(findBun());

function run(bun) {
  if (process.platform !== 'linux' && process.platform !== 'darwin') {
    return refuse('E_PLATFORM', `Goondan does not run on ${process.platform}.`);
  }
  if (bun === undefined) {
    return refuse('E_BUN_MISSING', `Bun, which runs gdn, is not installed for ${process.platform}-${process.arch}.`);
  }
  const { command, cwd } = launchCommand(bun, currentFolder(), process.argv.slice(2));
  const [program, ...args] = command;
  // Registered before the child starts, so that a signal never ends the launcher alone. The listeners run only after
  // `child` is set.
  for (const signal of sentByOthers) process.on(signal, () => child.kill(signal));
  for (const signal of sentByTerminal) process.on(signal, () => isOnTerminal() || child.kill(signal));
  const child = spawn(program, args, { cwd, stdio: streamsFor(args) });
  child.on('error', (error) => refuse('E_BUN_MISSING', `Bun, which runs gdn, cannot be started: ${error.message}.`));
  child.on('exit', endLike);
}

/** Inherits the standard streams, and the open files that the arguments name: a shell passes `<(…)` as `/dev/fd/11`. */
function streamsFor(args) {
  // As in `--schema=/dev/fd/11`, too. Node cannot pass on a file that is not open.
  const found = args.map((arg) => /(?:^|=)(\/(?:dev|proc\/self)\/fd\/(\d{1,3}))$/.exec(arg) ?? []);
  const named = found.map(([, path, file]) => (existsSync(path) ? Number(file) : 0));
  const streams = Array(Math.max(2, ...named) + 1)
    .fill('ignore')
    .fill('inherit', 0, 3);
  for (const file of named) streams[file] = 'inherit';
  return streams;
}

/**
 * Does not use `process.stdin.isTTY`: if standard input is a pipe, reading `process.stdin` makes it non-blocking, also for
 * the child.
 */
function isOnTerminal() {
  return require('node:tty').isatty(0);
}

/** Returns an empty text when the current folder no longer exists; `main.ts` reports that. */
function currentFolder() {
  try {
    return process.cwd();
  } catch {
    return '';
  }
}

function endLike(code, signal) {
  if (signal === null) return process.exit(code);
  for (const name of [...sentByTerminal, ...sentByOthers]) process.removeAllListeners(name);
  process.kill(process.pid, signal);
  // This line runs only if Node ignores the signal. It exits with the code that a shell would use.
  process.exit(128 + require('node:os').constants.signals[signal]);
}

function refuse(code, problem) {
  const suggestion = suggestions[code];
  const forPrograms = JSON.stringify({ error: { code, message: problem, suggestion } });
  process.stderr.write(process.argv.includes('--json') ? `${forPrograms}\n` : `${code}: ${problem}\n${suggestion}\n`);
  process.exit(wrongSetup);
}
