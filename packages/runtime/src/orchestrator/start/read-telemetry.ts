/** The export of spans, as the operator's environment wants it. */
import { namesCollector, showEndpoint, type SwarmTelemetry } from '../../config/telemetry-settings.ts';
import type { StartLog } from './start-log.ts';

/** Reads the operator's settings. Wrong settings are reported, and do not prevent the start. */
export async function readTelemetry(
  swarmName: string,
  environment: Readonly<Record<string, string | undefined>>,
  log: StartLog,
): Promise<SwarmTelemetry | undefined> {
  if (!namesCollector(environment)) return undefined;
  const [{ readTelemetrySettings }, { sampleEvent }] = await Promise.all([
    import('../../telemetry/read-telemetry-settings.ts'),
    import('../../telemetry/sample-event.ts'),
  ]);
  const { settings, sampler, warnings } = readTelemetrySettings(environment, swarmName);
  for (const warning of warnings) log.report('warn', 'telemetry.settings', warning);
  if (settings === undefined || sampler === undefined) return undefined;
  const contents = settings.hasContent ? ', with the contents of messages' : '';
  log.report('info', 'telemetry.on', `Spans are exported to ${showEndpoint(settings.endpoint)}${contents}.`);
  return { settings, sample: (event) => sampleEvent(event, sampler) };
}
