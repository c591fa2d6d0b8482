// What every page loads: htmx, set up for a strict content security policy.
import htmx from "htmx.org";

htmx.config.allowEval = false;
htmx.config.includeIndicatorStyles = false;
