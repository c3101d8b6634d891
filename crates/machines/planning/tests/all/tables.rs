//! The rules on tables as people have them: the cells are executed by a real Python, and the figures are compared with
//! values that the test computes.

use std::fmt::Write as _;

use serde_json::json;

use crate::kernel::{Done, Given, run};

/// Pseudo-random numbers between 0 and 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1_u64 << 31) as f64
    }
}

/// Runs a problem with pandas and without packages; the conclusions must be the same.
fn both(given: &Given<'_>) -> Option<Done> {
    let done = run(given)?;
    let plain = run(&Given { without: &["pandas", "matplotlib"], workflow: given.workflow.clone(), ..*given })?;
    assert_eq!(done.conclusion, plain.conclusion, "{}", given.problem);
    Some(done)
}

/// Returns a number between 10 and 100 with four digits, as the cells print it.
fn digits(value: f64) -> String {
    format!("{value:.2}").trim_end_matches('0').to_owned()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[track_caller]
fn says(done: &Done, expected: &[&str]) {
    for sentence in expected {
        assert!(done.conclusion.contains(sentence), "{sentence}\n---\n{}\n---\n{}", done.conclusion, done.output);
    }
}

#[test]
fn missing_values_are_left_out_and_counted() {
    let (mut table, mut noise) = ("group,y\n".to_owned(), Noise(1));
    let (mut a, mut b, mut lost) = (Vec::new(), Vec::new(), 0);
    for at in 0..200 {
        let (group, y) = if at % 2 == 0 { ("A", 10.0 + noise.next()) } else { ("B", 30.0 + noise.next()) };
        let y = (y * 1e3).round() / 1e3;
        if group == "B" && at % 10 != 1 {
            lost += 1;
            writeln!(table, "{group},").unwrap();
            continue;
        }
        if group == "A" { &mut a } else { &mut b }.push(y);
        writeln!(table, "{group},{y}").unwrap();
    }
    let Some(done) = both(&Given::new(&table, "Compare A and B: who has a higher y?")) else { return };
    let expected = format!("A ({}) and B ({}) differ in mean y", digits(mean(&a)), digits(mean(&b)));
    says(&done, &[&expected, "so hardly by chance", &format!("{lost} of 100 of B"), &format!("y ({lost} of 200)")]);
    assert!(done.unachieved.is_empty(), "{:?}", done.unachieved);
}

#[test]
fn repeated_rows_are_kept_and_reported() {
    let table = "region,revenue\n".to_owned() + &"N,5\nN,5\nS,10\nS,10\nS,4\n".repeat(4);
    let Some(done) = both(&Given::new(&table, "What is the total revenue by region?")) else { return };
    says(
        &done,
        &[
            "The total revenue is highest for region S (96) and lowest for N (40)",
            "20 rows",
            "17 of these rows repeat an earlier row; they are kept",
        ],
    );
    let step = |id: &str, goal: &str| json!({ "id": id, "description": goal });
    let steps = [step("load", ""), step("clean", "Remove duplicated rows"), step("conclude", "")];
    let workflow = Some(json!({ "name": "w", "stages": [{ "id": "a", "steps": steps }] }));
    let asked = Given { workflow, ..Given::new(&table, "What is the mean revenue by region?") };
    let Some(done) = both(&asked) else { return };
    says(&done, &["17 rows that repeat an earlier row were removed, as the step asks", "The table has 3 rows"]);
}

#[test]
fn a_text_among_numbers_is_counted_as_missing() {
    let (mut table, mut noise) = ("x,y,z\n".to_owned(), Noise(2));
    for at in 0..100 {
        let x = noise.next();
        let y = if at == 7 { "unknown".to_owned() } else { format!("{}", 2.0 * x) };
        writeln!(table, "{x},{y},{}", noise.next()).unwrap();
    }
    let note = "1 of 100 values of y count as missing, because they are texts such as 'unknown'";
    for (problem, expected) in [
        ("Is there a correlation between x and y?", "x and y have a strong linear relation: correlation 1.00"),
        ("Predict y from x", "y is predicted best by the model linear"),
        ("What affects y?", "y rises with x: x alone explains 100% of the variation of y"),
    ] {
        let Some(done) = both(&Given::new(&table, problem)) else { return };
        says(&done, &[expected, note]);
    }
}

#[test]
fn names_are_not_found_inside_of_ordinary_words() {
    let mut table = "a,in,price,unit price,sales\n".to_owned();
    let mut noise = Noise(3);
    for at in 0..50 {
        writeln!(table, "{},{},{},{},{}", noise.next(), noise.next(), noise.next(), at, 3 * at).unwrap();
    }
    let Some(done) = both(&Given::new(&table, "Is there a correlation between unit price and sales?")) else {
        return;
    };
    says(&done, &["unit price and sales have a strong linear relation: correlation 1.00", "+3 of sales"]);
}

#[test]
fn a_table_with_other_separators_and_encodings_is_read() {
    let rows: Vec<(String, f64)> = (0..40)
        .map(|at| (["Köln", "Wien"][at % 2].to_owned(), 1_000.0 + 250.5 * (at % 2) as f64 + at as f64))
        .collect();
    let wien = mean(&rows.iter().filter(|(city, _)| city == "Wien").map(|(_, value)| *value).collect::<Vec<_>>());
    let write = |separator: &str, number: &dyn Fn(f64) -> String| {
        let lines = rows.iter().map(|(city, value)| format!("{city}{separator}{}\n", number(*value)));
        format!("Stadt{separator}Umsatz\n{}", lines.collect::<String>())
    };
    let german =
        |value: f64| format!("{}.{:03},{}", value as i64 / 1000, value as i64 % 1000, (value * 10.0) as i64 % 10);
    let english =
        |value: f64| format!("\"{},{:03}.{}\"", value as i64 / 1000, value as i64 % 1000, (value * 10.0) as i64 % 10);
    let latin = |text: String| text.chars().map(|one| u8::try_from(u32::from(one)).unwrap()).collect::<Vec<u8>>();
    let expected = format!("highest for Stadt Wien ({wien:.0}", wien = wien.floor());
    let expected = expected.replace("(1", "(1,");
    for (bytes, notes) in [
        (write(";", &german).into_bytes(), vec!["decimal comma"]),
        (latin(write(";", &german)), vec!["decimal comma", "not UTF-8; it is read as cp1252"]),
        (latin(write(",", &f64_text)), vec!["not UTF-8; it is read as cp1252"]),
        (write(",", &english).into_bytes(), vec!["separated thousands"]),
        (format!("\u{feff}{}", write("\t", &f64_text)).into_bytes(), vec![]),
        (write("|", &f64_text).into_bytes(), vec![]),
    ] {
        let Some(done) = both(&Given::bytes(&bytes, "Compare the Umsatz by Stadt")) else { return };
        says(&done, &[&expected, "The table has 40 rows and 2 columns"]);
        says(&done, &notes);
    }
}

fn f64_text(value: f64) -> String {
    value.to_string()
}

#[test]
fn an_ambiguous_number_or_date_stays_text_and_is_named() {
    let table = "x,y,day\n".to_owned() + &"\"1,234\",\"2,345\",03/04/2024\n\"1,235\",\"2,346\",05/06/2024\n".repeat(5);
    let Some(done) = both(&Given::new(&table, "Is there a correlation between x and y?")) else { return };
    says(&done, &["The problem is not answered", "x stays text", "day stays text"]);
    let decided = "x,y\n".to_owned() + &"\"1,234\",2.5\n\"1,236\",3.5\n".repeat(5);
    let Some(done) = both(&Given::new(&decided, "What is the mean x?")) else { return };
    says(&done, &["x: mean 1,235", "x is read with separated thousands"]);
}

#[test]
fn dates_in_other_forms_are_dates() {
    for (form, note) in [
        ("{d}.{m}.2024", "begin with the day"),
        ("{d}/{m}/2024", "begin with the day"),
        ("{m}/{d}/2024", "begin with the month"),
        ("2024-{m}-{d}", ""),
    ] {
        let mut table = "date,revenue\n".to_owned();
        for at in 0..150 {
            let (month, day) = (at / 30 + 1, at % 28 + 1);
            let date = form.replace("{d}", &format!("{day:02}")).replace("{m}", &format!("{month:02}"));
            writeln!(table, "{date},{}", 100 * month).unwrap();
        }
        let Some(done) = both(&Given::new(&table, "How does revenue develop by month?")) else { return };
        says(
            &done,
            &[
                "highest in 2024-05 (500) and lowest in 2024-01 (100)",
                "(+400% of the first)",
                "rises by 100 per month",
                note,
            ],
        );
    }
    let texts = "when,revenue\nlate,1\nearly,2\nnever,3\n";
    let Some(done) = both(&Given::new(texts, "How does revenue develop by month?")) else { return };
    says(&done, &["The problem is not answered", "no column that is read as dates"]);
}

#[test]
fn without_a_table_the_conclusion_says_so() {
    let steps = ["load", "look", "clean", "question", "describe", "answer", "plot"];
    for (file, path, expected) in [
        (Some(("table.csv", &b""[..])), None, "table.csv: the file is empty"),
        (Some(("table.csv", &b"\n\n"[..])), None, "table.csv: the file is empty"),
        (Some(("table.csv", &b"a,b,c\n"[..])), None, "table.csv: it has 3 columns (a, b, c), but no rows"),
        (Some(("table.csv", &b"a,b\n1,2\n"[..])), Some("other.dat"), "other.dat cannot be read: No such file"),
        (Some(("table.csv", &b"\x89PNG\0\0"[..])), None, "table.csv: it is not a text file"),
        (None, None, "there is no CSV file"),
    ] {
        let given = Given { file, csv_file_path: path, ..Given::new("", "What affects b?") };
        let Some(done) = both(&given) else { return };
        says(&done, &[expected, "So nothing is analysed"]);
        assert_eq!(done.unachieved, steps);
        assert!(done.texts.contains("**Not done.** There is no table."), "{}", done.texts);
    }
}

#[test]
fn the_named_file_is_used_whatever_its_name() {
    let given = Given {
        file: Some(("my data.dat", b"b,c\n1,2\n3,5\n2,4\n4,9\n")),
        csv_file_path: Some("my data.dat"),
        ..Given::new("", "What is the mean b?")
    };
    let Some(done) = both(&given) else { return };
    says(&done, &["b: mean 2.5", "median 2.5", "The table has 4 rows"]);
}

#[test]
fn odd_columns_and_names_break_nothing() {
    let mut table = "height \"\"cm\"\",nothing,v,v ,{target},back\\slash,__OTHERS__,数量,,\"line\nbreak\"\n"
        .replace("height \"\"cm\"\"", "\"height \"\"cm\"\"\"");
    let mut noise = Noise(5);
    for at in 0..30 {
        writeln!(
            table,
            "{},,{at},{},{},{},{},{},{},{}",
            170 + at,
            2 * at,
            noise.next(),
            noise.next(),
            noise.next(),
            at % 5,
            at,
            at
        )
        .unwrap();
    }
    for (problem, expected) in [
        (
            "Is there a correlation between `height \"cm\"` and v?",
            "height \"cm\" and v have a strong linear relation: correlation 1.00",
        ),
        ("What affects 数量?", "数量"),
        ("What affects \"__OTHERS__\"?", "of the variation of __OTHERS__"),
        ("What is the mean nothing?", "The problem is not answered: nothing has no values"),
    ] {
        let Some(done) = both(&Given::new(&table, problem)) else { return };
        says(&done, &[expected, "nothing (30 of 30)", "the one in place 4 is called v (4)"]);
    }
}

#[test]
fn noise_is_said_to_be_noise() {
    let (mut table, mut noise) = ("day,team,sales,x\n".to_owned(), Noise(8));
    for at in 0..24 {
        let (year, month) = (2022 + at / 12, at % 12 + 1);
        let team = ["Red", "Blue"][(noise.next() > 0.5) as usize];
        writeln!(table, "{year}-{month:02}-01,{team},{},{}", noise.next(), noise.next()).unwrap();
    }
    for (problem, expected) in [
        ("How do sales develop by month?", "this is within noise, so there is no clear trend"),
        ("What will sales be next month?", "no clear trend"),
        ("Compare Red and Blue: who has higher sales?", "so it is within noise"),
        ("Is there a correlation between x and sales?", "This is within noise"),
        ("What affects sales?", "No column alone explains more of the variation of sales than chance does"),
        ("Predict sales from x", "is within noise"),
    ] {
        let Some(done) = both(&Given::new(&table, problem)) else { return };
        says(&done, &[expected]);
    }
}

#[test]
fn everything_that_shares_an_extreme_value_is_named() {
    let mut table = "date,city,quantity\n".to_owned();
    for at in 0..60 {
        let (city, quantity) = [("Rome", 11), ("Bern", 11), ("Oslo", 5), ("Rome", 9), ("Bern", 9), ("Oslo", 3)][at % 6];
        writeln!(table, "2024-{:02}-{:02},{city},{quantity}", 1 + at / 28, 1 + at % 28).unwrap();
    }
    let Some(done) = both(&Given::new(&table, "Which city has the highest mean quantity?")) else { return };
    says(
        &done,
        &["highest for city Rome, Bern (10 each) and lowest for Oslo (4)", "highest for Rome, Bern (200 each)"],
    );
    let Some(done) = both(&Given::new(&table, "Which day has the highest quantity?")) else { return };
    says(&done, &["2024-01-13 and 15 more (11 each)"]);
}

#[test]
fn a_difference_needs_the_same_whatever_the_question_is() {
    let mut table = "city,price\n".to_owned();
    let mut noise = Noise(21);
    for at in 0..90 {
        let city = ["Rome", "Bern", "Oslo"][at % 3];
        writeln!(table, "{city},{}", noise.next() + 0.16 * (at % 3) as f64).unwrap();
    }
    let mut needed = Vec::new();
    for problem in [
        "Compare Rome and Oslo: who has a higher price?",
        "Which city has the highest mean price?",
        "What is the mean price in Rome?",
    ] {
        let Some(done) = both(&Given::new(&table, problem)) else { return };
        let (_, rest) = done.conclusion.split_once("standard errors (").unwrap();
        let verdict = rest.lines().next().unwrap().to_owned();
        assert!(verdict.contains("because 3 groups have 3 pairs"), "{verdict}");
        needed.push(verdict);
    }
    assert!(needed.iter().all(|verdict| *verdict == needed[0]), "{needed:?}");
}

#[test]
fn a_period_that_is_under_way_is_not_the_next_one() {
    let mut table = "date,revenue\n".to_owned();
    for at in 0..317_u32 {
        // Four weeks count as a month here; the 12th of the twelfth one is the last day.
        let (month, day) = (1 + at / 28, 1 + at % 28);
        if (month, day) <= (12, 9) {
            writeln!(table, "2024-{month:02}-{day:02},{}", 10 + month).unwrap();
        }
    }
    let Some(done) = both(&Given::new(&table, "What will revenue be next month?")) else { return };
    says(
        &done,
        &[
            "In the month from 2025-01-01, the total revenue per month is expected at",
            "The month from 2024-12-01 is under way: its rows end on 2024-12-09.",
        ],
    );
    let whole: String =
        table.lines().filter(|line| !line.starts_with("2024-12")).map(|line| format!("{line}\n")).collect();
    let Some(done) = both(&Given::new(&whole, "What will revenue be next month?")) else { return };
    says(&done, &["In the month from 2024-12-01, the total revenue per month is expected at"]);
    assert!(!done.conclusion.contains("under way"), "{}", done.conclusion);
}

#[test]
fn a_problem_that_is_not_understood_is_not_answered() {
    let mut table = "day,revenue,quantity\n".to_owned();
    for at in 1..29 {
        writeln!(table, "2024-01-{at:02},{},{}", at * at, at % 4).unwrap();
    }
    for (problem, reason) in [
        ("How many rows have a quantity above 2?", "`above`"),
        ("On which weekday is revenue highest?", "`weekday`"),
        ("Tell me something nice", "`something`"),
    ] {
        let Some(done) = both(&Given::new(&table, problem)) else { return };
        assert_eq!(done.unachieved, ["answer"], "{problem}");
        says(
            &done,
            &["The problem is not answered: no rule uses the word ", reason, "A model", "revenue is 275.5 on average"],
        );
    }
    let Some(done) = both(&Given::new(&table, "What is the median revenue?")) else { return };
    says(&done, &["median 210.5", "total 7,714"]);
}

#[test]
fn a_step_that_is_unknown_or_impossible_is_listed_in_the_conclusion() {
    let step = |id: &str, goal: &str| json!({ "id": id, "description": goal });
    let steps = [
        step("einlesen", "Load the CSV file"),
        step("quality", "Check the quality of the data"),
        step("anova", "Run an analysis of variance of satisfaction by region"),
        step("trend", "Measure the trend"),
        step("plot_it", "Plot satisfaction by region"),
        step("wrap", "Conclude"),
    ];
    let workflow = Some(json!({ "name": "w", "stages": [{ "id": "a", "steps": steps }] }));
    let table = "region,unit price,satisfaction\n".to_owned() + &"N,1,3\nS,2,5\n".repeat(10);
    let given = Given { workflow, ..Given::new(&table, "Compare satisfaction by region.") };
    let Some(done) = run(&given) else { return };
    assert_eq!(done.unachieved, ["anova", "trend"]);
    says(
        &done,
        &["Not done: step anova (Run an analysis of variance", "Not done: step trend (", "highest for region S (5)"],
    );
    assert!(!done.output.contains("total satisfaction"), "the total of a level: {}", done.output);
    assert!(!done.output.contains("mean unit price by region"), "{}", done.output);
}

#[test]
fn a_large_table_is_predicted_in_seconds() {
    let (mut table, mut noise) = ("load,temp,power\n".to_owned(), Noise(11));
    for _ in 0..60_000 {
        let (load, temp) = (noise.next(), noise.next());
        writeln!(table, "{load:.4},{temp:.4},{:.4}", 3.0 * load + 0.5 * temp + 0.1 * noise.next()).unwrap();
    }
    let started = std::time::Instant::now();
    let Some(done) = run(&Given::new(&table, "Predict power from load and temp")) else { return };
    says(
        &done,
        &[
            "power is predicted best by the model linear",
            "on 500 rows that it had not seen",
            "knows 2,000 of the 45,000 rows",
        ],
    );
    assert!(started.elapsed().as_secs() < 120, "{:?}", started.elapsed());
}
