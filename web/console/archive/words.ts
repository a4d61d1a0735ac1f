const en = {
  storage: 'Storage',
  stores: { s3: 'S3', local: 'This host' },
  noStorage: 'None: nothing is archived',
  deletions: 'Objects to delete',
  check: 'Last check',
  checked: (count: string) => `${count} messages checked`,
  damaged: 'Damaged messages',
  spools: 'Waiting for their upload',
  host: 'Host',
  messages: 'Messages',
  size: 'Size',
  oldest: 'Oldest',
  failures: 'Not archived',
  problem: 'Problem',
  seen: 'Seen',
  none: 'No host has reported yet',
}

const de: typeof en = {
  storage: 'Speicher',
  stores: { s3: 'S3', local: 'Dieser Server' },
  noStorage: 'Keiner: nichts wird archiviert',
  deletions: 'Zu löschende Objekte',
  check: 'Letzte Prüfung',
  checked: (count) => `${count} Nachrichten geprüft`,
  damaged: 'Beschädigte Nachrichten',
  spools: 'Warten auf das Hochladen',
  host: 'Server',
  messages: 'Nachrichten',
  size: 'Größe',
  oldest: 'Älteste',
  failures: 'Nicht archiviert',
  problem: 'Problem',
  seen: 'Gesehen',
  none: 'Noch kein Server hat sich gemeldet',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
