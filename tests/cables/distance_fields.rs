//! scratch
use force_elements::Error;
use force_elements::cable::Wrappable;
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::shapes::{DistanceField, Sphere, Torus, TriangleMesh};
use force_elements_scenes::bones::femur_mesh;
use force_elements_scenes::cables::Dice;
use std::time::Instant;

#[test]
fn scratch() -> Result<(), Error> {
    for (h,n) in [(0.4,24)] {
        let mesh = TriangleMesh::sphere(1.0, n)?;
        let t = Instant::now();
        let field = DistanceField::from_mesh(&mesh, h)?;
        let mut worst: f64 = 0.0;
        let mut dice = Dice::new(1);
        let mut ends: f64 = 0.0;
        for _ in 0..200 {
            let p = field.retract(&Point3::from(dice.vector(1.0).normalize()));
            worst = worst.max((p.coords.norm() - 1.0).abs());
            let g = field.geodesic(&p, &dice.vector(1.0), 1.0, 1e-10);
            let e = Sphere::new(1.0)?.geodesic(&p, &g.start.tangent, 1.0, 1e-10);
            ends = ends.max((g.end.point - e.end.point).norm());
        }
        let e = 1.57/f64::from(n);
        println!("sphere h {h} edge {e:.3} acc {:.2e} exact {worst:.2e} geodesic {ends:.2e} least radius {:.3} nodes {} {:?}", field.accuracy(), field.least_radius(), field.node_count(), t.elapsed());
    }
    for (h,n) in [(0.1,48)] {
        let mesh = TriangleMesh::torus(1.0, 0.4, 2*n, n)?;
        let t = Instant::now();
        let field = DistanceField::from_mesh(&mesh, h)?;
        let torus = Torus::new(1.0, 0.4)?;
        let mut worst: f64 = 0.0;
        let mut dice = Dice::new(1);
        let mut ends: f64 = 0.0;
        for _ in 0..200 {
            let p = field.retract(&torus.retract(&Point3::from(dice.vector(1.0))));
            worst = worst.max(torus.value(&p).abs());
            let g = field.geodesic(&p, &dice.vector(1.0), 0.6, 1e-10);
            let e = torus.geodesic(&p, &g.start.tangent, 0.6, 1e-10);
            ends = ends.max((g.end.point - e.end.point).norm());
        }
        println!("torus h {h} n {n} acc {:.2e} exact {worst:.2e} geodesic {ends:.2e} least radius {:.3} nodes {} {:?}", field.accuracy(), field.least_radius(), field.node_count(), t.elapsed());
    }
    for (h, e) in [(0.008, 0.004), (0.005, 0.004), (0.004, 0.003), (0.003,0.003),(0.002,0.003)] {
        let t = Instant::now();
        let mesh = femur_mesh(e)?;
        println!("femur mesh {} faces {:?}", mesh.face_count(), t.elapsed());
        let t = Instant::now();
        match DistanceField::from_mesh(&mesh, h) {
            Ok(field) => println!("femur h {h} acc {:.2e} least radius {:.4} nodes {} {:?}", field.accuracy(), field.least_radius(), field.node_count(), t.elapsed()),
            Err(e) => println!("femur h {h} {e}"),
        }
    }
    for (h, half) in [(0.1, 0.5), (0.1, 0.2), (0.1, 0.05), (0.1, 0.02), (0.1, 0.01), (0.1,0.005)] {
        let mesh = TriangleMesh::brick(Vector3::new(0.5, 0.5, half), [4, 4, 1])?;
        match DistanceField::from_mesh(&mesh, h) {
            Ok(field) => println!("brick h {h} acc {:.2e} least radius {:.4} nodes {}", field.accuracy(), field.least_radius(), field.node_count()),
            Err(e) => println!("brick h {h} {e}"),
        }
    }
    Ok(())
}
use force_elements::cable::{CablePath, Obstacle, Tracking};
use force_elements::{CableSpring, ForceSystem, Frame, Pose, Station, cable_spring};
#[test]
fn scratch2() -> Result<(), Error> {
    for (h, e) in [(0.006, 0.003), (0.004, 0.004), (0.004, 0.003), (0.003, 0.003)] {
        let mesh = femur_mesh(e)?;
        let field = DistanceField::from_mesh(&mesh, h)?;
        println!("h {h} e {e} acc {:.2e} radius {:.4}", field.accuracy(), field.least_radius());
        let mut dice = Dice::new(5);
        let (mut ok, mut contact) = (0, 0);
        let mut errors = std::collections::BTreeMap::<String, usize>::new();
        let mut motion_ok = 0; let mut jumps = 0; let mut worst: f64 = 0.0; let mut steps=0; let mut lost=0;
        let mut deep: f64 = 0.0;
        let t = Instant::now();
        let mut tracked = std::time::Duration::ZERO;
        for case in 0..60 {
            let mut system = ForceSystem::new();
            let end = system.add_body();
            // Through a ring around the bone.
            let z = dice.between(-0.02, 0.42);
            let angle = dice.between(0.0, 6.28);
            let turn = dice.between(0.6, 2.9);
            let from = Point3::new(0.15*angle.cos(), 0.15*angle.sin(), z + dice.between(-0.1, 0.1));
            let to = Point3::new(0.15*(angle+turn).cos(), 0.15*(angle+turn).sin(), z + dice.between(-0.1, 0.1));
            let obstacle = Obstacle::new(Frame::ground(Pose::identity()), field.clone())?;
            let path = CablePath::new(Station::ground(from), Station { body: end, p_B: Point3::origin() })?.over(obstacle);
            let cable = system.add(CableSpring::new(path, cable_spring::Parameters { stiffness: 100.0, slack_length: 0.1, dissipation: 0.1 })?)?;
            let mut state = system.default_state();
            state.set_pose(end, Pose::translation(to.x, to.y, to.z))?;
            match system.realize_dynamics(&mut state) {
                Ok(view) => {
                    ok += 1;
                    let path = &view.of(cable).position.path;
                    if path.contacts[0].in_contact { contact += 1; 
                      for s in &path.segments { for i in 0..=100 { let p = s.from_G + (s.to_G - s.from_G)*(f64::from(i)/100.0); use force_elements::shapes::Solid; deep = deep.max(-mesh.signed_distance(&p)); } }
                    }
                }
                Err(e) => { *errors.entry(format!("{e}").chars().filter(|c| !c.is_ascii_digit()).collect()).or_default() += 1; if case < 0 {println!("{e}");} continue; }
            }
            system.accept_step(&mut state)?;
            let direction = dice.vector(1.0).normalize();
            let mut last = state.clone(); let _ = &mut last;
            let mut length = None::<f64>;
            let t1 = Instant::now();
            let mut good = true;
            for i in 0..200 {
                let p = to + direction * (0.05*(0.02*f64::from(i)).sin());
                state.set_pose(end, Pose::translation(p.x, p.y, p.z))?;
                match system.realize_dynamics(&mut state) {
                    Ok(view) => { let path = &view.of(cable).position.path; let l: f64 = path.length; steps+=1;
                        if path.tracking != Tracking::Warm { lost += 1; }
                        if let Some(old) = length { let d = (l-old).abs(); worst = worst.max(d/ (0.05*0.02)); if d > 0.05*0.02*1.0001 { jumps += 1; } } length = Some(l); }
                    Err(e) => { *errors.entry(format!("motion {e}").chars().filter(|c| !c.is_ascii_digit()).collect()).or_default() += 1; good = false; break; }
                }
                system.accept_step(&mut state)?;
            }
            tracked += t1.elapsed();
            motion_ok += usize::from(good);
        }
        println!("  ok {ok} contact {contact} motion ok {motion_ok} steps {steps} jumps {jumps} worst {worst:.4} not warm {lost} deep {deep:.2e} tracked {:?}/step {:?} {errors:#?}", tracked/u32::try_from(steps.max(1)).unwrap_or(1), t.elapsed());
    }
    Ok(())
}
