const en = {
  search: 'Words of subject or addresses',
  people: 'From and to',
  directions: { inbound: 'Received', outbound: 'Sent' },
  anyDirection: 'Received and sent',
  bounce: 'Bounce',
  restore: 'Download',
  restoreTitle: 'Download an archived message',
  restoreHint: 'The message is compared with its checksum first. Your reason is recorded.',
  noSubject: 'No subject',
  none: 'No archived messages',
  noneHint: 'A sealed copy of each message that your organization sends or receives is kept here.',
}

const de: typeof en = {
  search: 'Wörter aus Betreff oder Adressen',
  people: 'Von und an',
  directions: { inbound: 'Empfangen', outbound: 'Gesendet' },
  anyDirection: 'Empfangen und gesendet',
  bounce: 'Unzustellbarkeitsmeldung',
  restore: 'Herunterladen',
  restoreTitle: 'Archivierte Nachricht herunterladen',
  restoreHint:
    'Die Nachricht wird zuerst mit ihrer Prüfsumme verglichen. Ihr Grund wird festgehalten.',
  noSubject: 'Kein Betreff',
  none: 'Keine archivierten Nachrichten',
  noneHint:
    'Hier liegt eine versiegelte Kopie jeder Nachricht, die Ihre Organisation sendet oder empfängt.',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
