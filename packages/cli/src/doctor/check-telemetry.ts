import { probeCollector } from '@goondan/runtime/internal';
import { type Check, ok, warning } from './check.ts';

const name = 'telemetry';

/** Checks whether spans are exported and the collector accepts them. A swarm runs in either case. */
export async function checkTelemetry(environment: Readonly<Record<string, string | undefined>>): Promise<Check> {
  const { endpoint, hasContent, problems } = await probeCollector(environment);
  const where = endpoint === undefined ? 'off' : `spans go to ${endpoint}${hasContent ? ', with contents' : ''}`;
  if (problems.length > 0) {
    return warning(name, [where, ...problems].join('\n'), 'Start the collector, or correct the OTEL_… variables.');
  }
  return ok(
    name,
    endpoint === undefined ? 'off: no OTEL_EXPORTER_OTLP_ENDPOINT is set' : `${where}, which accepts them`,
  );
}
