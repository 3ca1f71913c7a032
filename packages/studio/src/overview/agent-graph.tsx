import type { WorkspaceView } from '@goondan/cli/studio';
import { placeAgents, type PlacedAgent } from './place-agents.ts';

interface AgentGraphProps {
  readonly view: WorkspaceView;
  readonly open: (agent: string) => void;
}

const [wide, tall, gapX, gapY] = [220, 62, 90, 20];

/** The agents of a swarm, and an arrow for each that may ask another. */
export function AgentGraph({ view, open }: AgentGraphProps) {
  const placed = placeAgents(view.agents, view.entryAgent);
  const width = (Math.max(0, ...placed.map(({ column }) => column)) + 1) * (wide + gapX) - gapX + 2;
  const height = (Math.max(0, ...placed.map(({ row }) => row)) + 1) * (tall + gapY) - gapY + 2;
  const arrows = view.agents.flatMap(({ name, mayAsk = [] }) => mayAsk.map((other) => ({ from: name, to: other })));
  return (
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
      {placed.map(({ name, column, row }) => {
        const agent = view.agents.find((each) => each.name === name);
        const isBusy = view.conversations.some((each) => each.agent === name && each.status === 'working');
        return (
          <button
            key={name}
            type="button"
            className={isBusy ? 'graph-agent is-busy' : 'graph-agent'}
            style={{ left: column * (wide + gapX) + 1, top: row * (tall + gapY) + 1, width: wide, height: tall }}
            title={`Open ${name}`}
            onClick={() => open(name)}
          >
            <strong>{name}</strong>
            <span className="quiet">
              {name === view.entryAgent ? 'entry · ' : ''}
              {agent?.tools.length ?? 0} tools · {agent?.layers.length ?? 0} layers
            </span>
          </button>
        );
      })}
    </div>
  );
}

function find(placed: readonly PlacedAgent[], name: string): PlacedAgent | undefined {
  return placed.find((each) => each.name === name);
}

/** From the right side of one to the left side of the other; round the outside where that lies behind. */
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
