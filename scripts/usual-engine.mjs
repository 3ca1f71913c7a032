/**
 * Preloaded in test processes: a process that gets the environment of a test (`process.env`) runs as it runs for users,
 * without `engineSettings`.
 */
import { engineSettings } from './engine-settings.mjs';

for (const name of Object.keys(engineSettings)) delete process.env[name];
