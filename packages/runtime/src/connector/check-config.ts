/** Checks the config of a connection against the schema of its connector, before any code of the connector runs. */
import { GoondanError } from '@goondan/types';
import type { ConnectorStart } from '../config/connector-start.ts';
import { describeConfigProblem } from '../config/describe-config-problem.ts';
import { compileSchema } from '../json/json-schema.ts';

/** Checks the config. Throws `E_CONNECTOR_CONFIG`. */
export async function checkConfig({ connection, connector, config, configSchema }: ConnectorStart): Promise<void> {
  if (configSchema === undefined) return;
  const check = await compileSchema(configSchema, `the config of Connector/${connector}`);
  const problems = check(config);
  if (problems.length === 0) return;
  const said = problems.map((problem) => describeConfigProblem(problem, config, configSchema)).join('; ');
  throw new GoondanError(
    'E_CONNECTOR_CONFIG',
    `The config of Connection/${connection} does not fit Connector/${connector}: ${said}.`,
  );
}
