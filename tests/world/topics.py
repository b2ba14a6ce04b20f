"""Words of each invented study: what it is about, in what, and how it was looked at."""

from __future__ import annotations

_RAW = {
    "chemokine": (
        (
            "CXCL12 binding|CXCR4 internalisation|β-arrestin recruitment|calcium flux|homing of progenitors|"
            "the CXCL12 gradient|receptor dimers|directional migration|heparan sulphate"
        ),
        "bone marrow slices|Jurkat cells|zebrafish lateral lines|stromal co-cultures",
        "bioluminescence resonance energy transfer|under-agarose migration|flow cytometry",
    ),
    "checkpoint": (
        (
            "PD-1 clustering|PD-L1 shedding|SHP2 recruitment|exhaustion markers|interferon-γ release|"
            "T cell re-expansion|antigen load|TCF1 positive progenitors"
        ),
        "melanoma organoids|CD8 T cells|tumour slices|spleens",
        "single-molecule tracking|mass cytometry|adoptive transfer",
    ),
    "kinase": (
        (
            "EGF binding|EGFR phosphorylation|ERK pulses|endosomal sorting|ligand depletion|GRB2 exchange|"
            "receptor recycling|negative feedback through SPRY2"
        ),
        "MCF10A monolayers|mammary acini|keratinocyte sheets",
        "live biosensor imaging|phosphoproteomics|optogenetic clustering",
    ),
    "moss": (
        (
            "protonemal branching|spore germination|cuticle thickness|desiccation recovery|phyllid angle|"
            "water film depth|sporophyte abortion|shade response"
        ),
        "moss cushions|urban walls|peat mesocosms|herbarium sheets",
        "confocal reconstruction|chlorophyll fluorescence|isotope labelling",
    ),
    "coral": (
        (
            "symbiont expulsion|skeletal density|night respiration|bleaching thresholds|mucus turnover|"
            "larval settlement|alkalinity anomaly|heat tolerance"
        ),
        "staghorn fragments|reef flats|larval aquaria|coral nurseries",
        "micro-computed tomography|pulse amplitude fluorometry|oxygen microsensors",
    ),
    "sleep": (
        (
            "spindle density|slow wave slope|dream recall|memory consolidation|adenosine build-up|"
            "cortical down states|sleep pressure|ripple coupling"
        ),
        "volunteers|freely moving rats|night shift nurses|thalamic slices",
        "high-density electroencephalography|targeted reactivation|fibre photometry",
    ),
    "yeast": (
        (
            "bud scar counts|vacuolar acidity|rDNA circles|replicative age|mitochondrial inheritance|"
            "daughter rejuvenation|iron regulon activity|caloric restriction"
        ),
        "budding yeast lineages|microfluidic traps|petite mutants",
        "time-lapse microscopy|ribosome profiling|pulse-chase labelling",
    ),
    "bee": (
        (
            "waggle dance errors|pollen diversity|brood temperature|forager age|clothianidin residues|"
            "hive weight|nectar flow|colony survival"
        ),
        "honey bee colonies|observation hives|apple orchards|field transects",
        "radio-frequency tagging|palynology|thermal imaging",
    ),
    "crystal": (
        (
            "nucleation lag|polymorph selection|lattice strain|solvent inclusion|growth step velocity|"
            "supersaturation|impurity pinning|nacre tablets"
        ),
        "gel-grown crystals|levitated droplets|shell fragments",
        "atomic force microscopy|X-ray topography|Raman mapping",
    ),
    "malaria": (
        (
            "gametocyte conversion|erythrocyte invasion|merozoite release|haemozoin load|var gene switching|"
            "febrile periodicity|spleen clearance|artemisinin delay"
        ),
        "cultured parasites|asymptomatic carriers|humanised mice",
        "ring-stage survival assays|single-cell sequencing|membrane feeding",
    ),
    "bone": (
        (
            "osteocyte density|trabecular spacing|sclerostin release|loading frequency|callus stiffness|"
            "lacunar shape|mineral maturation|fracture closure"
        ),
        "mouse tibiae|iliac biopsies|perfused bone cores",
        "synchrotron tomography|finite element analysis|nanoindentation",
    ),
    "gut": (
        (
            "butyrate supply|mucin thickness|crypt fission|bile acid pools|tuft cell number|"
            "segmented filamentous bacteria|barrier leak|Paneth cell granules"
        ),
        "gnotobiotic mice|colon organoids|ileostomy samples",
        "16S profiling|Ussing chambers|laser capture",
    ),
    "vision": (
        (
            "contrast gain|saccadic suppression|cone opsin drift|amacrine inhibition|perceptual fading|"
            "receptive field size|direction selectivity|pupil lag"
        ),
        "retinal explants|macaque observers|amblyopic adults",
        "adaptive optics imaging|multielectrode arrays|psychophysical staircases",
    ),
    "soil": (
        (
            "hyphal turnover|phosphatase activity|aggregate stability|nitrous oxide bursts|root exudation|"
            "earthworm casts|necromass carbon|drought legacy"
        ),
        "beech plots|prairie cores|rhizotrons|fallow fields",
        "stable isotope probing|gas chromatography|zymography",
    ),
    "heart": (
        (
            "calcium sparks|titin stiffness|wall stress|atrial fibrosis|ejection fraction|"
            "sarcomere length|potassium leak|conduction velocity"
        ),
        "engineered heart tissue|septal biopsies|Langendorff hearts",
        "optical mapping|echocardiography|patch clamp recording",
    ),
    "virus": (
        (
            "capsid uncoating|furin cleavage|interferon escape|plaque size|reassortment rate|"
            "viral load|neutralising titres|spike stability"
        ),
        "ferrets|airway cultures|wastewater samples|convalescent sera",
        "cryo-electron tomography|deep mutational scanning|digital PCR",
    ),
    "language": (
        (
            "vowel duration|turn-taking gaps|tonal drift|lexical access|bilingual switching|"
            "babbling rhythm|prosodic phrasing|semantic surprise"
        ),
        "toddlers|village recordings|bilingual speakers|interpreters",
        "eye tracking|forced alignment|magnetoencephalography",
    ),
}
TOPICS = {
    name: {
        "things": tuple(things.split("|")),
        "systems": tuple(systems.split("|")),
        "methods": tuple(methods.split("|")),
    }
    for name, (things, systems, methods) in _RAW.items()
}
