/**
 * Checks whether spans would be exported, where to, and whether the collector accepts them, for a person who sets up a
 * machine.
 */
import { systemClock } from '../ports/clock.ts';
import { namesCollector, showEndpoint } from '../config/telemetry-settings.ts';
import type { Environment } from '../config/variable-name.ts';

export interface CollectorProbe {
  /** The endpoint, without parts that may be a key; absent when no spans are exported. */
  readonly endpoint?: string;
  /** True if spans would include the contents of messages. */
  readonly hasContent: boolean;
  /** Settings that are ignored, and the reason if the collector does not accept spans. */
  readonly problems: readonly string[];
}

const PROBE_MS = 2_000;

/** Sends an empty list of spans, in the way a swarm sends its spans. Never rejects. */
export async function probeCollector(environment: Environment): Promise<CollectorProbe> {
  if (!namesCollector(environment)) return { hasContent: false, problems: [] };
  const { readTelemetrySettings } = await import('./read-telemetry-settings.ts');
  const { settings, warnings } = readTelemetrySettings(environment, 'doctor');
  if (settings === undefined) return { hasContent: false, problems: warnings };
  const { postSpansTo } = await import('./post-spans.ts');
  const post = postSpansTo({ ...settings, timeoutMs: Math.min(settings.timeoutMs, PROBE_MS) }, systemClock, fetch);
  const outcome = await post('{"resourceSpans":[]}', new AbortController().signal);
  return {
    endpoint: showEndpoint(settings.endpoint),
    hasContent: settings.hasContent,
    problems: outcome.type === 'taken' ? warnings : [...warnings, `the collector accepts no spans (${outcome.why})`],
  };
}
