/** French texts of the pages of payment links. The other languages have the same keys. */
export const fr = {
  product: "Paiement par carte",
  chooseLanguage: "Choisir la langue",

  seller: "Vendeur",
  amount: "Montant à payer",
  orderRef: "Référence",

  form: {
    yourDetails: "Vos coordonnées",
    amountLabel: "Montant en dinars",
    amountHint: (min: string, max: string) => `Entre ${min} et ${max}`,
    name: "Nom et prénom",
    nameHint: "Le vendeur voit ce nom.",
    email: "Adresse e-mail",
    emailHint: "Par exemple nom@exemple.dz",
    phone: "Téléphone",
    phoneHint: "Par exemple 0550 12 34 56",
    optional: "facultatif",
    conditions: "J’accepte les conditions du paiement par carte de ma banque et les conditions de vente du vendeur.",
    sellerConditions: "Lire les conditions de vente",
    opensInNewTab: "nouvel onglet",
    pay: "Payer par carte",
    payAmount: (amount: string) => `Payer ${amount}`,
    cards: "Cartes acceptées\u00a0:",
    nextStep: "Vous saisirez votre carte sur la page sécurisée de la SATIM, pas ici.",
    captcha: "Vérification de sécurité",
    captchaWait: "La vérification de sécurité est en cours. Le paiement continue dès qu’elle est terminée.",
    captchaFailed: "La vérification de sécurité a échoué. Rechargez la page et réessayez.",
    withoutScript:
      "Cette page a besoin de JavaScript pour la vérification de sécurité. Activez JavaScript dans votre navigateur, puis rechargez la page, ou demandez au vendeur un autre moyen de paiement.",
    errorSummary: "Veuillez vérifier votre saisie",
  },
  errors: {
    amount_missing: "Saisissez le montant à payer.",
    amount_malformed: "Saisissez un montant en chiffres, par exemple 1500 ou 1500,50.",
    amount_out_of_range: (min: string, max: string) => `Saisissez un montant entre ${min} et ${max}.`,
    name_missing: "Saisissez votre nom et votre prénom.",
    name_too_long: "Saisissez un nom de 120 caractères au plus.",
    email_missing: "Saisissez votre adresse e-mail.",
    email_malformed: "Saisissez une adresse e-mail complète, par exemple nom@exemple.dz.",
    phone_missing: "Saisissez votre numéro de téléphone.",
    phone_malformed: "Saisissez un numéro algérien à dix chiffres, ou un numéro international qui commence par +.",
    conditions_missing: "Cochez la case pour accepter les conditions.",
    captcha_missing:
      "La vérification de sécurité n’était pas terminée. Attendez un instant, puis appuyez de nouveau sur le bouton.",
    field_refused: "Cette valeur n’est pas acceptée. Veuillez la vérifier.",
  },

  inProgress: {
    title: "Vous avez déjà un paiement en cours",
    text: "Vous avez commencé ce paiement dans ce navigateur. Vous pouvez le continuer ou en commencer un nouveau.",
    otherAmount:
      "Un paiement d’un autre montant est déjà en cours dans ce navigateur. Vous pouvez le continuer ou en commencer un nouveau.",
    amount: "Montant du paiement en cours",
    goOn: "Continuer ce paiement",
    beginAgain: "Recommencer",
    beginAgainHint: "Si vous recommencez, ne terminez pas l’ancien paiement\u00a0: il s’arrête de lui-même.",
  },

  full: {
    title: "Un autre client est en train de payer",
    text: "Un autre client est en train de payer le dernier article. Réessayez dans quelques minutes.",
    ownPayment: "Votre paiement précédent est peut-être celui qui occupe la dernière place. Vous pouvez le continuer.",
    tryAgain: "Réessayer",
  },
  unavailable: {
    title: "Ce lien de paiement n’est plus disponible",
    text: "Aucun paiement n’est possible avec ce lien. Adressez-vous au vendeur pour en recevoir un autre.",
  },
  unknown: {
    title: "Lien de paiement inconnu",
    text: "L’adresse est peut-être incomplète. Vérifiez-la, ou demandez au vendeur de vous l’envoyer de nouveau.",
  },
  limited: {
    title: "Trop de demandes",
    text: (seconds: number) =>
      seconds === 1
        ? "Réessayez dans une seconde."
        : `Beaucoup de demandes nous parviennent. Réessayez dans ${seconds} secondes.`,
    tryAgain: "Réessayer",
  },
  processorError: {
    title: "Le paiement n’a pas pu commencer",
    text: "Le service de paiement par carte ne répond pas pour le moment. Vous n’avez rien payé. Réessayez dans quelques minutes.",
    unknownOutcome:
      "Nous ne savons pas encore si le service de paiement par carte a reçu votre demande. Vous n’avez saisi aucune carte, donc rien n’est débité. Réessayez dans une minute.",
    refused: "Le service de paiement par carte a refusé cette demande. Vous n’avez rien payé. Adressez-vous au vendeur.",
    tryAgain: "Revenir au paiement",
  },
  fault: {
    title: "Un instant, s’il vous plaît",
    text: "Nous ne pouvons pas afficher cette page pour le moment. Rien n’est perdu. Rechargez la page dans une minute.",
    badRequest: "Nous n’avons pas pu lire cette demande. Ouvrez de nouveau le lien de paiement.",
  },

  result: {
    accepted: "Paiement accepté",
    acceptedText: "Votre paiement a été accepté.",
    refunded: "Paiement remboursé",
    refundedText: (amount: string) => `Le vendeur vous a remboursé ${amount}.`,
    reversed: "Paiement annulé",
    reversedText:
      "Ce paiement a été annulé après avoir été accepté. Il n’y a pas de reçu. Pour toute question, adressez-vous au vendeur.",
    declined: "Paiement non accepté",
    rejectedText: "Votre transaction a été rejetée.",
    canceled: "Paiement annulé",
    canceledText: "Le paiement a été annulé.",
    expired: "Délai de paiement écoulé",
    expiredText: "Le paiement n’a pas été terminé à temps.",
    failedText: "Le paiement n’a pas abouti.",
    pending: "Paiement en cours de vérification",
    pendingText:
      "Nous ne connaissons pas encore le résultat de ce paiement. Cette page se met à jour d’elle-même toutes les 10 secondes.",
    pendingAdvice: "Ne payez pas une deuxième fois avant de connaître le résultat.",
    update: "Mettre à jour maintenant",
    goOn: "Continuer le paiement",
    details: "Détails du paiement",
    processorOrderId: "Numéro de transaction",
    orderNumber: "Numéro de commande",
    approvalCode: "Numéro d’autorisation",
    date: "Date et heure",
    amount: "Montant",
    refundedAmount: "Montant remboursé",
    cardBrand: "Type de carte",
    maskedPan: "Numéro de carte",
    help: "En cas de problème avec votre carte, appelez le numéro vert de la SATIM\u00a0:",
    print: "Imprimer le reçu",
    pdf: "Télécharger le reçu (PDF)",
    email: "Envoyer le reçu par e-mail",
    onward: "Continuer vers le site du vendeur",
    back: "Revenir au site du vendeur",
    tryAgain: "Réessayer le paiement",
    unknownTitle: "Résultat introuvable",
    unknownText: "L’adresse est peut-être incomplète. Rouvrez le lien de paiement, ou adressez-vous au vendeur.",
  },

  poster: {
    title: "Payez par carte CIB ou EDAHABIA",
    scan: "Scannez ce code avec l’appareil photo de votre téléphone, puis payez en ligne.",
    freeAmount: (min: string, max: string) => `Montant de votre choix, entre ${min} et ${max}`,
    qrCode: "Code QR du lien de paiement",
    print: "Imprimer cette affiche",
  },
};

export type CheckoutTexts = typeof fr;
