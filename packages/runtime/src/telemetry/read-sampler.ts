/** Reads from OpenTelemetry's environment variables which traces to export. The result is for `sampleEvent`. Pure. */
import { valueOf } from '../config/telemetry-settings.ts';
import type { Environment } from '../config/variable-name.ts';

const NAME = 'OTEL_TRACES_SAMPLER';
const SHARE = 'OTEL_TRACES_SAMPLER_ARG';

/**
 * Reads the sampler. A wrong value is reported to `warn` and replaced by its default: the sampler by
 * `parentbased_always_on`, the share by 1.
 */
export function readSampler(environment: Environment, warn: (warning: string) => void) {
  const name = valueOf(environment, NAME)?.toLowerCase() ?? 'parentbased_always_on';
  const asksCaller = name.startsWith(PARENT_BASED);
  switch (asksCaller ? name.slice(PARENT_BASED.length) : name) {
    case 'always_on':
      return { share: 1, asksCaller };
    case 'always_off':
      return { share: 0, asksCaller };
    case 'traceidratio':
      return { share: readShare(environment, warn), asksCaller };
    default:
      warn(`${NAME} is "${name.slice(0, 40)}", which is not supported; parentbased_always_on is used.`);
      return { share: 1, asksCaller: true };
  }
}

const PARENT_BASED = 'parentbased_';

function readShare(environment: Environment, warn: (warning: string) => void): number {
  const text = valueOf(environment, SHARE);
  if (text === undefined) return 1;
  const share = Number(text);
  if (share >= 0 && share <= 1) return share;
  warn(`${SHARE} is not a number from 0 to 1; 1 is used.`);
  return 1;
}
