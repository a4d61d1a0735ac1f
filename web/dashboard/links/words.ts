const en = {
  hint: 'Links of incoming mail lead over a check, which looks at the address when somebody clicks. Mail that is forwarded loses its DKIM signature by it.',
  on: 'Check links of incoming mail',
  saved: 'Link protection is saved',
  entry: 'Host or address',
  type: 'Kind',
  types: {
    domain: 'Blocked host',
    url: 'Blocked address',
    pattern: 'Blocked pattern',
    allowlist: 'Allowed',
  },
  note: 'Note',
  add: 'Add entry',
  added: (entry: string) => `${entry} is in force`,
  remove: 'Remove',
  removed: (entry: string) => `${entry} is removed`,
  none: 'No entries',
  noneHint:
    'Block a host or address for everybody in your organization, or allow one that always passes.',
  clicks: 'Clicks of the last 30 days',
  verdict: 'Verdict',
  verdicts: { safe: 'Safe', suspicious: 'Suspicious', blocked: 'Blocked' },
  noClicks: 'No clicks',
  noClicksHint: 'Clicks on links of delivered mail appear here.',
}

const de: typeof en = {
  hint: 'Links ankommender Mail führen über eine Prüfung, die die Adresse beim Klick ansieht. Weitergeleitete Mail verliert dadurch ihre DKIM-Signatur.',
  on: 'Links ankommender Mail prüfen',
  saved: 'Der Linkschutz ist gespeichert',
  entry: 'Host oder Adresse',
  type: 'Art',
  types: {
    domain: 'Gesperrter Host',
    url: 'Gesperrte Adresse',
    pattern: 'Gesperrtes Muster',
    allowlist: 'Erlaubt',
  },
  note: 'Notiz',
  add: 'Eintrag hinzufügen',
  added: (entry) => `${entry} ist in Kraft`,
  remove: 'Entfernen',
  removed: (entry) => `${entry} ist entfernt`,
  none: 'Keine Einträge',
  noneHint:
    'Sperren Sie einen Host oder eine Adresse für alle in Ihrer Organisation, oder erlauben Sie, was immer durchgeht.',
  clicks: 'Klicks der letzten 30 Tage',
  verdict: 'Urteil',
  verdicts: { safe: 'Sicher', suspicious: 'Verdächtig', blocked: 'Gesperrt' },
  noClicks: 'Keine Klicks',
  noClicksHint: 'Hier erscheinen Klicks auf Links zugestellter Mail.',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
