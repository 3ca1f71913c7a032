/** Draws the output of a terminal as an SVG: the colours and styles of `gdn`, in a light or a dark theme. */
const themes = {
  light: { ground: '#ffffff', edge: '#d1d9e0', text: '#1f2328', dim: '#6e7781', cyan: '#0969da', yellow: '#9a6700' },
  dark: { ground: '#0d1117', edge: '#3d444d', text: '#e6edf3', dim: '#8b949e', cyan: '#58c4dc', yellow: '#e3b341' },
} as const;

export type Theme = keyof typeof themes;

const CELL = 8.4;
const LINE = 20;
const EDGE = 20;

/** `label`: the text for readers who do not see the picture. */
export function drawTerminal(output: string, theme: Theme, label: string): string {
  const lines = output.split('\n');
  const width = Math.ceil(2 * EDGE + CELL * Math.max(...lines.map((line) => Bun.stringWidth(line))));
  const height = 2 * EDGE + LINE * lines.length;
  const { ground, edge, text } = themes[theme];
  const frame = `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${ground}" stroke="${edge}"/>`;
  const body = lines.flatMap((line, row) => drawLine(line, EDGE + LINE * (row + 0.75), theme));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(label)}">
${frame}
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="${text}">
${body.join('\n')}
</g>
</svg>
`;
}

/** Draws each run of equal style at its own column, so that fonts of other widths do not move it. */
function drawLine(line: string, y: number, theme: Theme): string[] {
  let column = 0;
  let style = '';
  return line.split('\u001b[').flatMap((piece, index) => {
    const [, code, text = piece] = (index > 0 && /^(\d+)m(.*)$/.exec(piece)) || [];
    if (code !== undefined) style = styleOf(code, theme);
    const x = (EDGE + CELL * column).toFixed(1);
    const columns = Bun.stringWidth(text);
    column += columns;
    if (text.trim() === '') return [];
    const length = (CELL * columns).toFixed(1);
    const look = /[^│ ]/.test(text) ? style : ` fill="${themes[theme].edge}"`;
    return `<text x="${x}" y="${y}" xml:space="preserve" textLength="${length}"${look}>${escape(text)}</text>`;
  });
}

function styleOf(code: string, theme: Theme): string {
  const { dim, cyan, yellow } = themes[theme];
  const styles: Readonly<Record<string, string>> = {
    1: ' font-weight="bold"',
    2: ` fill="${dim}"`,
    33: ` fill="${yellow}"`,
    36: ` fill="${cyan}"`,
  };
  return styles[code] ?? '';
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
