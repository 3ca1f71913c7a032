import type { AgentEvent } from '@goondan/types';

/**
 * The operator's settings for spans: where to send them and what to include. JSON: agent processes get them with their
 * plan.
 */
export interface TelemetrySettings {
  /** The whole URL that spans are posted to. */
  readonly endpoint: string;
  /** May hold keys. Never write them down. */
  readonly headers: Readonly<Record<string, string>>;
  /** The deadline of one post. */
  readonly timeoutMs: number;
  /** Attributes of every span: `service.name` and the operator's own. */
  readonly resource: Readonly<Record<string, string>>;
  /** True when messages, arguments and results are included. */
  readonly hasContent: boolean;
}

/** The telemetry of a swarm that exports spans. */
export interface SwarmTelemetry {
  /** For its agent processes. */
  readonly settings: TelemetrySettings;
  /** Adds to an input from outside the decision whether its trace is exported. */
  readonly sample: (event: AgentEvent) => AgentEvent;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export const endpointVariables = {
  traces: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  everything: 'OTEL_EXPORTER_OTLP_ENDPOINT',
} as const;

/** Whether a collector is named; without one the other settings need not be read. */
export function namesCollector(environment: Environment): boolean {
  return Object.values(endpointVariables).some((variable) => valueOf(environment, variable) !== undefined);
}

/** Returns a variable's value; an empty one counts as not set. */
export function valueOf(environment: Environment, name: string): string | undefined {
  const value = environment[name]?.trim();
  return value === '' ? undefined : value;
}

/** Shows an endpoint without the parts that may hold a key. */
export function showEndpoint(endpoint: string): string {
  const { origin, pathname } = new URL(endpoint);
  return origin + pathname;
}
