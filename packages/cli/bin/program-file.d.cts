export function programFile(source: 'main' | 'run/detached-main'): string;
