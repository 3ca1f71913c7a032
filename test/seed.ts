/**
 * The seed of the random samples of a run. `npm test` chooses one, prints it with every failure, and preloads this file.
 * So all properties of fast-check repeat with it, and so does `seededRandom(seed)`.
 */
import fc from 'fast-check';

export const seed = Number(process.env['GOONDAN_SEED'] ?? 0);

fc.configureGlobal({ seed });
