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
// Not the style: scripts and whoever resizes a field write it through the object model; copied as an attribute it is
// refused by the policy.
htmx.config.attributesToSettle = ['class', 'width', 'height'];

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
