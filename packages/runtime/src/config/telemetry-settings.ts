import type { AgentEvent } from '@goondan/types';

/** Where spans go and what is in them, as the operator said it. JSON: it goes to agents' processes with their plan. */
export interface TelemetrySettings {
  /** The whole URL that spans are posted to. */
  readonly endpoint: string;
  /** They may hold keys: never written down. */
  readonly headers: Readonly<Record<string, string>>;
  /** For one post. */
  readonly timeoutMs: number;
  /** What every span is of: `service.name` and whatever else was given. */
  readonly resource: Readonly<Record<string, string>>;
  /** Messages, arguments and results are in the spans too. */
  readonly hasContent: boolean;
}

/** What a swarm that exports spans does about it. */
export interface SwarmTelemetry {
  /** For the processes of its agents. */
  readonly settings: TelemetrySettings;
  /** An input from outside, with the decision whether its trace is exported. */
  readonly sample: (event: AgentEvent) => AgentEvent;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export const endpointVariables = {
  traces: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  everything: 'OTEL_EXPORTER_OTLP_ENDPOINT',
} as const;

/** Whether the operator's other wishes need be read. */
export function namesCollector(environment: Environment): boolean {
  return Object.values(endpointVariables).some((variable) => valueOf(environment, variable) !== undefined);
}

/** One that is empty is not set. */
export function valueOf(environment: Environment, name: string): string | undefined {
  const value = environment[name]?.trim();
  return value === '' ? undefined : value;
}

/** For people: without what may be a key. */
export function showEndpoint(endpoint: string): string {
  const { origin, pathname } = new URL(endpoint);
  return origin + pathname;
}
