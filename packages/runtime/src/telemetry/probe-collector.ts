/**
 * Checks for `gdn doctor` whether spans would be exported, to which endpoint, and whether the collector accepts them.
 */
import { systemClock } from '../ports/clock.ts';
import { namesCollector, showEndpoint } from '../config/telemetry-settings.ts';
import type { Environment } from '../config/variable-name.ts';

export interface CollectorProbe {
  /** The endpoint, without parts that may be a key; absent when no spans are exported. */
  readonly endpoint?: string;
  /** True if spans would include the contents of messages. */
  readonly hasContent: boolean;
  /** Texts about settings that are ignored, and about the reason if the collector does not accept spans. */
  readonly problems: readonly string[];
}

const PROBE_MS = 2_000;

/** Sends an empty list of spans to the collector, in the same way as a swarm sends its spans. Never rejects. */
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
