/** The colours of `gdn`. After a colour inside of another one, the outer one goes on. */
const codes = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const;

type Color = keyof typeof codes;

export type Colors = Readonly<Record<Color, (text: string) => string>>;

export function createColors(isOn: boolean): Colors {
  const paint = isOn ? painter : () => String;
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    italic: paint('italic'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
    blue: paint('blue'),
    magenta: paint('magenta'),
    cyan: paint('cyan'),
  };
}

function painter(color: Color): (text: string) => string {
  const [begin, end] = codes[color].map((code) => `\u001b[${code}m`);
  // The same code ends bold and dim, so the outer one of the two has to begin again.
  return (text) => `${begin}${text.replaceAll(`${end}`, `${end}${begin}`)}${end}`;
}
