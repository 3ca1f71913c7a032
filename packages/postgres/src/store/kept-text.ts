/** The text type of PostgreSQL has no NUL, and no half of a surrogate pair. JSON texts have them escaped. */
import { type AgentAddress, type AgentEvent, GoondanError } from '@goondan/types';

export function isKept(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Makes a text for people one that can be kept. */
export function keptText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** Refuses input that another instance, or another event, could not be told from. **Errors** — `E_INSTANCE_KEY`, `E_EVENT_INVALID`. */
export function refuseUnkept({ instanceKey }: AgentAddress, { id }: Pick<AgentEvent, 'id'>): void {
  if (!isKept(instanceKey)) {
    const message = `PostgreSQL cannot keep the instance key ${JSON.stringify(instanceKey)}.`;
    throw new GoondanError('E_INSTANCE_KEY', message, { suggestion: UNKEPT });
  }
  if (isKept(id)) return;
  const message = `PostgreSQL cannot keep the id ${JSON.stringify(id)} of an event.`;
  throw new GoondanError('E_EVENT_INVALID', message, { suggestion: UNKEPT });
}

const UNKEPT = 'Leave out NUL characters and halves of surrogate pairs.';
