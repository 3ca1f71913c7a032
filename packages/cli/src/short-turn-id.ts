/**
 * The ids of turns and their short forms, for commands that import them only when needed. A dynamic import of
 * `@goondan/runtime/internal` itself would put all of it into one file of the built `gdn`, which every command loads.
 */
export { eventIdOf, retryIdOf, shortIdOfEvent, shortTurnId } from '@goondan/runtime/internal';
