import { useEffect, useState } from 'react';

/** Changes when the value does, and once more a while after: for what is there only then. */
export function useLater(value: number, afterMs: number): string {
  const [late, setLate] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return `${value} ${late}`;
}
