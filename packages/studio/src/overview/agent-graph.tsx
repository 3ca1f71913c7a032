import type { AgentView, WorkspaceView } from '@goondan/cli/studio';
import type { CSSProperties } from 'react';
import { describeParts } from '../text/describe-parts.ts';
import { useMedia } from '../theme/use-media.ts';
import { placeAgents, type PlacedAgent } from './place-agents.ts';

interface AgentGraphProps {
  readonly view: WorkspaceView;
  readonly open: (agent: string) => void;
}

const [wide, tall, gapX, gapY] = [220, 62, 90, 20];
/** If there are more arrows than this, no arrows are drawn. Instead, each agent lists the agents that it may call. */
const MOST_ARROWS = 24;

/** Shows the agents of a swarm, with arrows to the agents that each may call. */
export function AgentGraph({ view, open }: AgentGraphProps) {
  const arrows = view.agents.flatMap(({ name, mayAsk = [] }) => mayAsk.map((other) => ({ from: name, to: other })));
  const isNarrow = useMedia('(width < 640px)');
  if (isNarrow || arrows.length > MOST_ARROWS || view.agents.length > MOST_ARROWS) {
    return (
      <div className="agent-cards">
        {view.agents.map((agent) => (
          <AgentCard key={agent.name} agent={agent} view={view} open={open} asks={describeAsked(agent, view)} />
        ))}
      </div>
    );
  }
  const placed = placeAgents(view.agents, view.entryAgent);
  const width = (Math.max(0, ...placed.map(({ column }) => column)) + 1) * (wide + gapX) - gapX + 2;
  const height = (Math.max(0, ...placed.map(({ row }) => row)) + 1) * (tall + gapY) - gapY + 2;
  return (
    <div className="graph-box">
      <div className="graph" style={{ width, height }}>
        <svg width={width} height={height} aria-hidden="true">
          <defs>
            <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0 L8 4 L0 8 z" />
            </marker>
          </defs>
          {arrows.map(({ from, to }) => (
            <path key={`${from} ${to}`} d={curve(find(placed, from), find(placed, to))} markerEnd="url(#arrow)" />
          ))}
        </svg>
        {view.agents.map((agent) => (
          <AgentCard key={agent.name} agent={agent} view={view} open={open} style={styleOf(find(placed, agent.name))} />
        ))}
      </div>
    </div>
  );
}

interface AgentCardProps extends AgentGraphProps {
  readonly agent: AgentView;
  readonly style?: CSSProperties;
  readonly asks?: string;
}

function AgentCard({ agent, view, open, style, asks }: AgentCardProps) {
  const { name } = agent;
  const isBusy = view.conversations.some((each) => each.agent === name && each.status === 'working');
  return (
    <button
      type="button"
      className={isBusy ? 'graph-agent is-busy' : 'graph-agent'}
      style={style}
      title={`Open ${name}`}
      onClick={() => open(name)}
    >
      <strong>{name}</strong>
      <span className="quiet">
        {[...(name === view.entryAgent ? ['entry'] : []), ...describeParts(agent)].join(' · ')}
      </span>
      {asks !== undefined && asks !== '' && <span className="quiet">{asks}</span>}
    </button>
  );
}

function describeAsked({ mayAsk = [] }: AgentView, { agents }: WorkspaceView): string {
  if (mayAsk.length === 0) return '';
  if (mayAsk.length <= 2) return `may ask ${mayAsk.join(', ')}`;
  return mayAsk.length === agents.length - 1 ? 'may ask all others' : `may ask ${mayAsk.length} others`;
}

function find(placed: readonly PlacedAgent[], name: string): PlacedAgent | undefined {
  return placed.find((each) => each.name === name);
}

function styleOf(place: PlacedAgent | undefined): CSSProperties {
  const { column = 0, row = 0 } = place ?? {};
  return {
    position: 'absolute',
    left: column * (wide + gapX) + 1,
    top: row * (tall + gapY) + 1,
    width: wide,
    height: tall,
  };
}

/**
 * Draws an arrow from the right side of one agent to the left side of another. An arrow to an earlier column goes
 * around the outside.
 */
function curve(from: PlacedAgent | undefined, to: PlacedAgent | undefined): string {
  if (from === undefined || to === undefined) return '';
  const isAhead = to.column > from.column;
  const startX = from.column * (wide + gapX) + (isAhead ? wide : 0) + 1;
  const endX = to.column * (wide + gapX) + (isAhead ? 0 : wide) + 1;
  const startY = from.row * (tall + gapY) + tall / 2 + (isAhead ? -6 : 6);
  const endY = to.row * (tall + gapY) + tall / 2 + (isAhead ? -6 : 6);
  const bend = (isAhead ? 1 : -1) * Math.max(gapX * 0.6, Math.abs(endX - startX) / 2);
  return `M${startX} ${startY} C${startX + bend} ${startY} ${endX - bend} ${endY} ${endX} ${endY}`;
}
