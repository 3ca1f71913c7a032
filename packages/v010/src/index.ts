/** `@goondan/v010`: runs extensions that were written for Goondan v0.10. */
export { v010 } from './v010.ts';
export type * from './old-types.ts';
export type { MiddlewarePoint, MutatorPoint } from './points.ts';
