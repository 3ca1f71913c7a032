/** A module that never ends. */
import { misbehave } from './misdeeds.ts';

await misbehave('block-forever');

export const register = (): void => undefined;
