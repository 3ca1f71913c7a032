/** Records for people, written by agent processes. A turn does not wait for them, and losing them loses no promise. */
import type { AgentAddress, JsonObject } from '@goondan/types';
import type { LineWriter } from '../workspace/lines/gathered-log.ts';
import type { TurnLine } from '../workspace/traces/trace-writer.ts';

export interface TraceSink {
  open(instance: AgentAddress): Promise<LineWriter<TurnLine>>;
}

/** Takes the runtime events of an instance. */
export interface EventSink {
  open(instance: AgentAddress): Promise<LineWriter<JsonObject>>;
}
