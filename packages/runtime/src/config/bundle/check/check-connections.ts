/**
 * Checks the names that a Connection uses: events of its connector and agents of its swarm. Also checks that each route
 * has at most one way to choose an instance key, and that a connection whose clients answer questions can know them.
 */
import { closestName, suggestName } from '../../closest-name.ts';
import type { LoadedResourceOf, Scope } from '../bundle.ts';
import { errorIn, type Finding } from '../bundle-problem.ts';
import { findResource, mayDeclare, resourcesOf } from '../find-resource.ts';
import { declaredSwarms, rulesOf, swarmOf } from '../swarm-of.ts';
import { referenceOf } from '../references.ts';
import { checkEnvironment } from './check-agents.ts';

export function* checkConnections(scope: Scope): Generator<Finding> {
  for (const loaded of resourcesOf(scope, 'Connection')) {
    yield* checkEnvironment(loaded, loaded.resource.spec.environment);
    yield* checkSwarm(scope, loaded);
    yield* checkEvents(scope, loaded);
    yield* checkRoutes(scope, loaded);
    yield* checkAnswers(loaded);
  }
}

function* checkSwarm(scope: Scope, loaded: LoadedResourceOf<'Connection'>): Generator<Finding> {
  const swarms = declaredSwarms(scope);
  if (loaded.resource.spec.swarmRef !== undefined || swarms.length === 1 || mayDeclare(scope, 'Swarm')) return;
  const message =
    swarms.length === 0
      ? 'spec.swarmRef is missing, and there is no Swarm.'
      : 'spec.swarmRef is missing, and there is more than one Swarm.';
  yield errorIn(loaded, ['spec', 'swarmRef'], 'E_REF_MISSING', message, suggestName(undefined, swarms));
}

function* checkEvents(scope: Scope, loaded: LoadedResourceOf<'Connection'>): Generator<Finding> {
  const connector = findResource(scope, 'Connector', loaded.resource.spec.connectorRef)?.loaded;
  const events = connector?.resource.spec.events?.map((event) => (typeof event === 'string' ? event : event.name));
  if (connector === undefined || events === undefined) return;
  for (const [index, { match }] of rulesOf(loaded).entries()) {
    if (match?.event === undefined || events.includes(match.event)) continue;
    const message = `${connector.identity} has no event "${match.event}".`;
    const path = ['spec', 'ingress', 'rules', index, 'match', 'event'];
    yield errorIn(loaded, path, 'E_REF_MISSING', message, suggestName(closestName(match.event, events), events));
  }
}

function* checkRoutes(scope: Scope, loaded: LoadedResourceOf<'Connection'>): Generator<Finding> {
  const swarm = swarmOf(scope, loaded);
  const agents = swarm?.loaded.resource.spec.agents.map(
    (item) => findResource(swarm.scope, 'Agent', referenceOf(item))?.loaded,
  );
  for (const [index, { route }] of rulesOf(loaded).entries()) {
    const path = ['spec', 'ingress', 'rules', index, 'route'];
    if (route.instanceKey !== undefined && route.instanceKeyProperty !== undefined) {
      const message = 'A route has instanceKey or instanceKeyProperty, not both.';
      yield errorIn(loaded, [...path, 'instanceKeyProperty'], 'E_RESOURCE_INVALID', message, 'Keep one of them.');
    }
    if (route.instanceKeyPrefix !== undefined && route.instanceKeyProperty === undefined) {
      const message = 'instanceKeyPrefix goes before the value of instanceKeyProperty, which is missing.';
      const suggestion = 'Add instanceKeyProperty, or write the whole instanceKey.';
      yield errorIn(loaded, [...path, 'instanceKeyPrefix'], 'E_RESOURCE_INVALID', message, suggestion);
    }
    const agent = route.agentRef === undefined ? undefined : findResource(scope, 'Agent', route.agentRef)?.loaded;
    if (agent === undefined || agents === undefined || agents.includes(agent)) continue;
    const message = `${agent.identity} is not one of the agents of ${swarm?.loaded.identity ?? 'the swarm'}.`;
    const suggestion = 'Add it to the swarm, or name another agent.';
    yield errorIn(loaded, [...path, 'agentRef'], 'E_REF_MISSING', message, suggestion);
  }
}

function* checkAnswers(loaded: LoadedResourceOf<'Connection'>): Generator<Finding> {
  const { answersQuestions, secrets = {} } = loaded.resource.spec;
  if (answersQuestions !== true || Object.keys(secrets).length > 0) return;
  const message = 'answersQuestions: true needs a secret: without one, anybody could answer the questions.';
  const suggestion =
    'Add a secret, such as `secrets: { token: { valueFrom: { env: NAME } } }`, or remove answersQuestions.';
  yield errorIn(loaded, ['spec', 'answersQuestions'], 'E_RESOURCE_INVALID', message, suggestion);
}
