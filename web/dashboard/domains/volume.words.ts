const en = {
  title: 'Mail',
  sent: 'Sent',
  delivered: 'Delivered',
  bounced: 'Bounced',
  failed: 'Failed',
  chart: (domain: string) => `Mail of ${domain} by day`,
}

const de: typeof en = {
  title: 'Mail',
  sent: 'Gesendet',
  delivered: 'Zugestellt',
  bounced: 'Zurückgewiesen',
  failed: 'Fehlgeschlagen',
  chart: (domain) => `Mail von ${domain} nach Tagen`,
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
