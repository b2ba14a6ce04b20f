# ruff: noqa: E501
"""What sites say around a paper, in many wordings and several languages.

A judge that passes the lab by knowing these phrases has learnt nothing: every list is long, every
kind draws from it at random, and half of the kinds are held out.
"""

from __future__ import annotations

# fmt: off
OFFERS = (
    "Buy this article, 39.95 USD", "Purchase PDF – $35.95", "Get access", "Add to cart",
    "Rent this article via DeepDyve", "Access options", "Subscribe to journal", "24-hour access €42",
    "Get full text", "Check access", "Institutional access", "Accéder à l'article complet",
    "Zugang kaufen", "Artikel kaufen 29,99 €", "Comprar acceso", "Acquista l'articolo", "购买全文",
    "この論文を購入する", "Kup dostęp", "Köp artikeln", "Instant access to the full article PDF",
    "Unlock this article", "Pay per view", "Order a copy", "View options", "Read the full version",
    "This content is only available via PDF or subscription", "Recommend to your librarian",
    "You do not currently have access to this content", "Osta lugemisõigus", "Koop dit artikel",
    "Price includes VAT (Finland)", "Tax calculation will be finalised at checkout",
    "Doorlezen? Word abonnee", "Comprar este artigo por R$ 120", "To read this paper please log in",
)
SPINNERS = (
    "Full text loading…", "Loading article content", "Please wait while we load your document",
    "Wird geladen …", "Chargement en cours…", "Cargando el texto completo", "読み込み中…", "正在加载全文",
    "Fetching sections", "Just a second, preparing the reader", "Rendering mathematics",
    "Loading Mathjax", "Enable JavaScript to view the text", "Trwa ładowanie", "Caricamento…",
    "The article viewer needs a newer browser", "Carregando o artigo", "Laster inn…", "Загрузка…",
    "Content is being retrieved", "Preparing document", "Opening enhanced reader",
)
SIGN_IN = (
    "Sign in", "Log in to continue", "Member login", "Access through your institution", "Anmelden",
    "Se connecter", "Iniciar sesión", "Accedi", "登录", "ログイン", "Entrar", "Zaloguj się", "Войти",
    "Shibboleth / OpenAthens", "Sign in with ORCID", "Remember me", "Forgotten your password?",
    "Create an account", "Register for free", "Passwort vergessen?", "Mot de passe oublié ?",
    "Select your organisation", "Library card number", "Not registered yet?", "Username or e-mail",
)
COOKIES = (
    "We use cookies to give you the best experience on our site.", "Accept all cookies",
    "Manage preferences", "This website stores data such as cookies to enable important functions.",
    "Nous utilisons des cookies pour améliorer votre visite.", "Tout accepter", "Alle akzeptieren",
    "Wir verwenden Cookies und ähnliche Technologien.", "Usamos cookies propias y de terceros.",
    "Rechazar todo", "Your privacy matters to us and our 842 partners.", "Only necessary",
    "By continuing to browse you agree to our use of cookies.", "Cookie settings", "Reject optional",
    "Utilizziamo i cookie per personalizzare i contenuti.", "当サイトではクッキーを使用しています。",
    "Strictly necessary cookies are always active.", "Measure advertising performance",
    "Consent can be withdrawn at any time in the footer.", "Zaakceptuj wszystkie",
    "Data is processed for analytics, personalised content and audience research.",
)
MENU = (
    "Home", "About", "Current issue", "Archive", "Submit", "For authors", "For reviewers", "Contact",
    "Editorial board", "Browse journals", "Subjects", "Alerts", "Help", "Search", "Advanced search",
    "My library", "Cart (0)", "Open access", "News", "Podcasts", "Careers", "Shop", "Startseite",
    "Accueil", "Inicio", "Numéros", "Hefte", "Imprint", "Privacy policy", "Terms and conditions",
    "Accessibility", "Cookie notice", "Sitemap", "Facebook", "X", "LinkedIn", "Mastodon", "RSS",
    "Explore content", "Publish with us", "Sign up for alerts", "Special issues", "Early view",
    "Aims and scope", "Peer review policy", "Advertise", "Subscribe", "Collections", "Datasets",
)
TOOLS = (
    "Download PDF", "Download citation", "Export to RIS", "Share", "Tweet", "Print", "Cite", "Save",
    "Add to favourites", "Permissions", "Metrics", "Altmetric 14", "1,209 views", "Request reprint",
    "Email alert", "View in ReadCube", "Figures", "Tables", "References", "Supplement", "Full text",
    "Article info", "Cited by 31", "Open in viewer", "Send to Kindle", "EndNote", "BibTeX", "XML",
    "PDF (1.2 MB)", "Comments (0)", "Jump to section", "Back to top", "Next article", "Previous",
    "Check for updates", "Google Scholar", "CrossRef", "PubMed", "Télécharger", "Herunterladen",
)
RELATED = (
    "Related articles", "Recommended reading", "People also read", "Similar papers", "More like this",
    "You may also be interested in", "Articles similaires", "Ähnliche Artikel", "Trending now",
    "Artículos relacionados", "Most read in this journal", "From the archive", "Editor's choice",
    "Readers of this paper also viewed", "Other users viewed", "Latest from the blog", "関連論文",
    "Explore more", "In this issue", "Más leídos", "Recommended for you", "Further items",
)
ABSTRACT = ("Abstract", "Summary", "ABSTRACT", "Synopsis", "Résumé", "Zusammenfassung", "Resumen")
REFERENCES = (
    "References", "Literature cited", "Bibliography", "Works cited", "REFERENCES", "Literature",
    "Reference list", "Notes and references", "Cited literature",
)
LETTERS = (
    "Stay in the know: our newsletter brings new research to your inbox every Friday.",
    "Join 120,000 readers who get our weekly digest.", "Sign up for table-of-contents alerts.",
    "Get the most important science stories of the day, free in your inbox.",
    "Abonnieren Sie unseren Newsletter und verpassen Sie keine Ausgabe.",
    "Recevez nos derniers articles par courriel.", "Follow us for calls for papers and events.",
    "Thank you for visiting. You are using a browser version with limited support for CSS.",
    "Publish your next paper with us: rapid review, broad readership, open licences.",
    "Suscríbase para recibir avisos de nuevos números.", "Download our app to read offline.",
    "Submit your manuscript and benefit from convenient online submission.",
    "Advertisement: laboratory freezers that remember what you stored, now 20 % off.",
    "Sponsored: see how the new sequencer halves the cost of every run.",
    "Conference registration is open; early-bird prices end on 31 March.",
)
LEGAL = (
    "All rights reserved, including those for text and data mining.", "Copyright © the publisher.",
    "Printed in the Netherlands.", "No part of this work may be reproduced without permission.",
    "The publisher remains neutral with regard to jurisdictional claims in published maps.",
    "Use of this site is subject to the terms of use and the privacy notice.",
    "Hosted by the university library on behalf of the learned society.",
    "ISSN 0000-0019 (online). A quarterly journal.", "Registered charity no. 100 200 3.",
    "The opinions expressed are those of the authors.", "Impressum · Datenschutz · AGB",
    "Mentions légales. Tous droits réservés.", "Powered by an open-source publishing platform.",
)
CLASSES = (
    "article", "article-body", "content", "main-content", "body", "text", "entry", "post", "core",
    "c-article-section", "sec", "section", "NLM_sec", "hlFld-Fulltext", "wrapper", "inner", "grid-8",
    "col-md-9", "panel", "paper", "document", "reader", "u-mb-2", "prose", "rich-text", "css-1x2y3z",
    "tw-flex", "sc-bdVaJa", "module", "region", "block", "node__content", "field-item", "page-body",
    "container-fluid", "l-main", "o-layout", "story", "item-page", "fulltext-view", "pane-content",
)
SIDES = (
    "sidebar", "rail", "aside", "widget", "promo", "c-teaser", "recommendations", "box", "related",
    "panel-right", "ad-slot", "footer", "toolbar", "meta", "share", "css-9k8j7h", "extra", "module",
    "grid-4", "col-md-3", "well", "card", "tile", "more", "block-views", "pane", "u-hide-print",
)
HEADINGS: dict[str, dict[str, str]] = {
    "de": {"introduction": "Einleitung", "methods": "Material und Methoden", "results": "Ergebnisse",
           "discussion": "Diskussion", "conclusion": "Schlussfolgerungen", "abstract": "Zusammenfassung",
           "references": "Literatur", "acknowledgements": "Danksagung", "background": "Hintergrund"},
    "fr": {"introduction": "Introduction", "methods": "Matériel et méthodes", "results": "Résultats",
           "discussion": "Discussion", "conclusion": "Conclusions", "abstract": "Résumé",
           "references": "Références", "acknowledgements": "Remerciements", "background": "Contexte"},
    "es": {"introduction": "Introducción", "methods": "Materiales y métodos", "results": "Resultados",
           "discussion": "Discusión", "conclusion": "Conclusiones", "abstract": "Resumen",
           "references": "Bibliografía", "acknowledgements": "Agradecimientos", "background": "Antecedentes"},
    "pt": {"introduction": "Introdução", "methods": "Material e métodos", "results": "Resultados",
           "discussion": "Discussão", "conclusion": "Conclusões", "abstract": "Resumo",
           "references": "Referências", "acknowledgements": "Agradecimentos", "background": "Contexto"},
    "it": {"introduction": "Introduzione", "methods": "Materiali e metodi", "results": "Risultati",
           "discussion": "Discussione", "conclusion": "Conclusioni", "abstract": "Riassunto",
           "references": "Bibliografia", "acknowledgements": "Ringraziamenti", "background": "Premesse"},
    "pl": {"introduction": "Wstęp", "methods": "Materiał i metody", "results": "Wyniki",
           "discussion": "Omówienie", "conclusion": "Wnioski", "abstract": "Streszczenie",
           "references": "Piśmiennictwo", "acknowledgements": "Podziękowania", "background": "Tło"},
    "ru": {"introduction": "Введение", "methods": "Материалы и методы", "results": "Результаты",
           "discussion": "Обсуждение", "conclusion": "Выводы", "abstract": "Аннотация",
           "references": "Список литературы", "acknowledgements": "Благодарности", "background": "Обоснование"},
    "zh": {"introduction": "引言", "methods": "材料与方法", "results": "结果", "discussion": "讨论",
           "conclusion": "结论", "abstract": "摘要", "references": "参考文献",
           "acknowledgements": "致谢", "background": "背景"},
    "ja": {"introduction": "緒言", "methods": "対象と方法", "results": "結果", "discussion": "考察",
           "conclusion": "結論", "abstract": "要旨", "references": "文献",
           "acknowledgements": "謝辞", "background": "背景"},
    "tr": {"introduction": "Giriş", "methods": "Gereç ve yöntem", "results": "Bulgular",
           "discussion": "Tartışma", "conclusion": "Sonuç", "abstract": "Özet",
           "references": "Kaynaklar", "acknowledgements": "Teşekkür", "background": "Arka plan"},
}
FAMILIES = (
    "Abe", "Alvarez", "Andersson", "Bauer", "Bianchi", "Chen", "Cohen", "Costa", "Dubois", "Eriksen",
    "Fischer", "Garcia", "Gupta", "Haddad", "Hoffmann", "Ivanova", "Jansen", "Jung", "Kaya", "Kim",
    "Kowalski", "Kumar", "Lam", "Lehtonen", "Li", "Lopez", "Marino", "Meyer", "Mori", "Murphy", "Nair",
    "Nguyen", "Novak", "Okafor", "Olsen", "Park", "Patel", "Petrov", "Quinn", "Rossi", "Sato", "Schmid",
    "Silva", "Singh", "Smit", "Suzuki", "Tan", "Torres", "Ueda", "Varga", "Virtanen", "Wang", "Weber",
    "Xu", "Yamada", "Yilmaz", "Zhang", "Zhou",
)
PLACES = (
    "Department of Physics, University of {c}", "Institute for Nuclear Research, {c}", "{c} University",
    "INFN Sezione di {c}", "National Laboratory, {c}", "Faculty of Science, {c}",
    "Center for Particle Astrophysics, {c}", "School of Medicine, {c}", "Max Planck Institute, {c}",
    "Hospital Universitario, {c}", "Academy of Sciences, {c}", "CNRS/IN2P3, {c}",
)
CITIES = (
    "Aachen", "Ankara", "Athens", "Barcelona", "Beijing", "Bergen", "Bologna", "Boston", "Brno", "Cairo",
    "Delhi", "Dresden", "Dublin", "Geneva", "Helsinki", "Hanoi", "Kyoto", "Leiden", "Lima", "Lund",
    "Madrid", "Milano", "Mumbai", "Nagoya", "Oslo", "Padova", "Prague", "Quito", "Riga", "Seoul",
    "Split", "Tartu", "Tokyo", "Torino", "Toronto", "Tromsø", "Utrecht", "Vilnius", "Wuhan", "Zürich",
)
AREAS = (
    "Biochemistry", "Bioinformatics", "Cell Biology", "Ecology", "Genetics", "Genomics", "Pathology",
    "Microbiology", "Neuroscience", "Physiology", "Plant Biology", "Zoology", "Epidemiology",
)
PREPRINT = (
    "This version posted March 3.", "Comments: 14 pages, 6 figures, submitted", "v2", "CC-BY 4.0",
    "Subjects: Quantitative Methods (q-bio.QM)", "Report number: 14-22", "Related DOI:", "Posted in",
    "The copyright holder for this preprint is the author/funder.", "MSC classes: 62P10",
    "This article is a preprint and has not been certified by peer review.", "Journal reference:",
    "Submission history: Mon, 3 Mar 12:09:14 UTC (1,209 KB)", "View PDF", "Supplementary Material",
    "Evaluation/discussion of this paper", "Subject Area: Ecology", "TeX Source",
    "Bibliographic tools", "Code, data, media", "Which authors of this paper are endorsers?",
)
