import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ErrorBoundary } from './problems/error-boundary.tsx';
import { Studio } from './studio.tsx';
import { ClockTicks } from './time/clock.tsx';
import { startTheme } from './theme/theme.ts';

startTheme();
const place = document.getElementById('studio');
if (place === null) throw new Error('index.html has no element with the id "studio".');
createRoot(place).render(
  <StrictMode>
    <ErrorBoundary>
      <ClockTicks>
        <Studio />
      </ClockTicks>
    </ErrorBoundary>
  </StrictMode>,
);
