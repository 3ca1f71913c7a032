import type { KeyboardEvent } from 'react';

/**
 * Shows tabs. The Tab key moves to the selected tab only, and the arrow keys move between the tabs. The panel of each
 * tab has the id `panel-NAME`.
 */
export function Tabs<Name extends string>({
  names,
  chosen,
  choose,
}: {
  readonly names: Readonly<Record<Name, string>>;
  readonly chosen: Name;
  readonly choose: (name: Name) => void;
}) {
  // The cast is safe: these are the keys of `names`.
  const all = Object.keys(names) as Name[];
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    const next = all.at((all.indexOf(chosen) + by) % all.length);
    if (next === undefined) return;
    event.preventDefault();
    choose(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div role="tablist" className="tabs" onKeyDown={press}>
      {all.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          aria-selected={name === chosen}
          aria-controls={name === chosen ? `panel-${name}` : undefined}
          tabIndex={name === chosen ? 0 : -1}
          onClick={() => choose(name)}
        >
          {names[name]}
        </button>
      ))}
    </div>
  );
}
