/** The telemetry of one agent process. Imported only when spans are exported. */
import { VERSION } from '../config/version.ts';
import type { TurnListener } from '../trace/watch-turn.ts';
import { toRequest } from './otlp.ts';
import { postSpansTo } from './post-spans.ts';
import { SpanExporter, type SpanExporterDeps } from './span-exporter.ts';
import { showEndpoint, type TelemetrySettings } from '../config/telemetry-settings.ts';
import type { TurnPlace } from './turn-place.ts';
import { TurnSpans } from './turn-spans.ts';

// Read when this module is loaded, before any bundle code, because bundle code may replace the global function.
const send = globalThis.fetch;
const { pid } = process;

/**
 * Opens the telemetry. Only the models by reference of `agent` are used. If it names no model, the first one is its
 * own.
 */
export function openTelemetry(
  settings: TelemetrySettings,
  agent: Pick<TurnPlace, 'models'> & { readonly modelRef?: string },
  { clock, report }: Pick<SpanExporterDeps, 'clock' | 'report'>,
) {
  const { endpoint, hasContent, resource } = settings;
  const { models, modelRef = Object.keys(models)[0] ?? '' } = agent;
  const swarm = resource['goondan.swarm'] ?? '';
  const ofProcess = {
    ...resource,
    'process.pid': pid,
    'telemetry.sdk.name': 'goondan',
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.version': VERSION,
  };
  const scope = { name: '@goondan/runtime', version: VERSION };
  const exporter = new SpanExporter({
    post: postSpansTo(settings, clock, (url, request) => send(url, request)),
    toBody: (spans) => toRequest(ofProcess, scope, spans),
    clock,
    random: Math.random,
    report: (level, message) => report(level, `${showEndpoint(endpoint)}: ${message}`),
  });
  return {
    /** Creates the listener for one turn. */
    listen: (): TurnListener =>
      new TurnSpans({ swarm, modelRef, models, hasContent }, (source) => exporter.add(source)),
    /** Sends the remaining spans, within `withinMs`. Never rejects. */
    finish: (withinMs: number) => exporter.finish(withinMs),
  };
}
