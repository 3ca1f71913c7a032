/**
 * Preloaded in test processes: a process that gets the environment of a test (`process.env`) runs as it runs for users,
 * without `lateCompiling`.
 */
import { lateCompiling } from './late-compiling.mjs';

for (const name of Object.keys(lateCompiling)) delete process.env[name];
