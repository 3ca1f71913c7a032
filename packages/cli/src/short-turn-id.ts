/**
 * The short form of a turn's id, for commands that import it when they need it. A dynamic import of
 * `@goondan/runtime/internal` itself would put all of it into one file of the built `gdn`, which every command loads.
 */
export { shortIdOfEvent, shortTurnId } from '@goondan/runtime/internal';
