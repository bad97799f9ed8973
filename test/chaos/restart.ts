/** How soon a service manager starts again what has ended; the default of systemd. */
export const RESTART_MS = 100
