/** Describes a connection for people: its status, and the log line for a change of its state. */
import { type KeptStep, type KeptWords, tellKeptStep, type ToldStep } from '../supervision/describe-kept-process.ts';

export { keptStatus as connectionStatus, type ToldStep } from '../supervision/describe-kept-process.ts';

const connectorWords: KeptWords = {
  kind: 'connection',
  program: 'The connector',
  startCode: 'E_CONNECTOR_START',
  endCode: 'E_CONNECTOR_ENDED',
};

/** Describes a step for the log. Returns `undefined` for a step that needs no log line. */
export function tellStep(step: KeptStep): ToldStep | undefined {
  return tellKeptStep(step, connectorWords);
}
