const en = {
  title: 'Logs',
  search: 'Search in the messages',
  anyService: 'All services',
  anyLevel: 'All levels',
  levels: {
    INFO: 'Info and higher',
    WARNING: 'Warnings and higher',
    ERROR: 'Errors and higher',
    CRITICAL: 'Critical only',
  },
  live: 'Live',
  liveHint: 'New lines appear every 3 seconds.',
  lines: 'Log lines, newest first',
  shown: (count: string) => `${count} lines, newest first`,
  truncated: (count: string) => `The newest ${count} lines; narrow the search to see older ones.`,
  oneRequest: 'Lines of one request',
  allRequests: 'Show all requests',
  none: 'No log lines',
  noneHint: 'The services of this host write here as soon as something happens.',
}

const de: typeof en = {
  title: 'Protokolle',
  search: 'In den Meldungen suchen',
  anyService: 'Alle Dienste',
  anyLevel: 'Alle Stufen',
  levels: {
    INFO: 'Ab Hinweis',
    WARNING: 'Ab Warnung',
    ERROR: 'Ab Fehler',
    CRITICAL: 'Nur kritische',
  },
  live: 'Live',
  liveHint: 'Neue Zeilen erscheinen alle 3 Sekunden.',
  lines: 'Protokollzeilen, die neueste zuerst',
  shown: (count) => `${count} Zeilen, die neueste zuerst`,
  truncated: (count) =>
    `Die neuesten ${count} Zeilen; grenzen Sie die Suche ein, um ältere zu sehen.`,
  oneRequest: 'Zeilen einer Anfrage',
  allRequests: 'Alle Anfragen zeigen',
  none: 'Keine Protokollzeilen',
  noneHint: 'Die Dienste dieses Servers schreiben hier, sobald etwas geschieht.',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
