// What every page loads: htmx set up for a strict content security policy, live parts,
// times, theme, keys. Each piece works on what the server rendered and is no loss
// when it does not run.

import htmx from 'htmx.org';
import { follow, updated } from '../live';
import { editForms, guardSubmits } from './forms';
import { keys } from './keys';
import { popovers } from './popovers';
import { guardSession } from './session';
import { copyButtons, themeToggle } from './small';
import { freshTimes, ownZone } from './times';

htmx.config.allowEval = false;
htmx.config.includeIndicatorStyles = false;
htmx.config.historyCacheSize = 0;

guardSession();
themeToggle();
copyButtons();
popovers();
keys();
editForms(htmx);
guardSubmits();
freshTimes();
ownZone();
follow();
document.addEventListener(updated, freshTimes);
document.addEventListener('htmx:afterSwap', freshTimes);
document.querySelector<HTMLElement>('[data-autofocus]')?.focus();
