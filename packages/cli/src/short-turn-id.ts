/**
 * The ids of turns, their short forms and what they mean, for commands that import them only when needed. A dynamic import of
 * `@goondan/runtime/internal` itself would put all of it into one file of the built `gdn`, which every command loads.
 */
export { eventIdOf, findInInstances, retryIdOf, shortIdOfEvent, shortTurnId } from '@goondan/runtime/internal';
