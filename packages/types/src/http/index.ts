/**
 * `@goondan/types/http`: functions with which our servers read and answer requests (the control socket, Studio, the
 * connectors of `@goondan/base`). Semantic versioning does not cover this entry point: any release may change or remove
 * a name here.
 */
export { type BodyBounds, checkJsonType, parseJson, readBody } from './read-body.ts';
export { boundedQueue, encodeEvent, EventStream } from './event-stream.ts';
export {
  errorBody,
  headersOf,
  type RefuseBody,
  Refusal,
  refuse,
  sharedStatuses,
  type StatusByCode,
  statusOf,
  statusOfCode,
} from './refusal.ts';
